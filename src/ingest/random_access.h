// SPDX-License-Identifier: Apache-2.0
// An input that is read at any place, for formats whose directory stands at their end. A stored file is read where it
// lies; what comes compressed, out of an archive or through a pipe is held in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/source.h"

namespace gapless::internal {

class RandomAccess {
 public:
  // `magic` is how the format begins: a file of the source's name that begins so is the input itself.
  static Result<std::unique_ptr<RandomAccess>> Open(Source& source, std::string_view magic);
  ~RandomAccess();
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;

  uint64_t size() const { return size_; }
  // Puts the bytes [offset, offset + size) into `bytes`. Returns false when they are not all there. For any thread.
  bool Read(uint64_t offset, uint64_t size, std::string& bytes) const;

 private:
  RandomAccess() = default;

  int fd_ = -1;
  std::string held_{};
  uint64_t size_ = 0;
};

// Does the file of this name exist and begin like this?
bool FileBeginsWith(const std::string& path, std::string_view magic);

// Returns all bytes of the source, up to 8 GiB; of a damaged one those before the damage.
Result<std::string> ReadAll(Source& source);

}  // namespace gapless::internal
