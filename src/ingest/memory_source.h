// SPDX-License-Identifier: Apache-2.0
// A MemorySource is a source whose bytes are already in memory: for tests, fuzzing and embedding. Its streams
// refer to its bytes, so it must outlive them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "ingest/source.h"

namespace gapless::internal {

class MemorySource : public Source {
 public:
  explicit MemorySource(std::string bytes, std::string path = "memory") : bytes_(std::move(bytes)) {
    path_ = std::move(path);
    stored_bytes_ = bytes_.size();
  }
  Result<std::unique_ptr<ByteStream>> Open() override {
    return std::unique_ptr<ByteStream>(std::make_unique<Stream>(bytes_));
  }

 private:
  class Stream : public ByteStream {
   public:
    explicit Stream(const std::string& bytes) : bytes_(bytes) {}
    Result<size_t> Read(char* out, size_t size) override {
      const size_t count = std::min(size, bytes_.size() - at_);
      std::memcpy(out, bytes_.data() + at_, count);
      at_ += count;
      return count;
    }

   private:
    const std::string& bytes_;
    size_t at_ = 0;
  };
  std::string bytes_;
};

}  // namespace gapless::internal
