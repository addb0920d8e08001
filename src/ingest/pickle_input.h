// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "ingest/source.h"

namespace gapless::internal {

// The bytes of a stream, one after the other.
class PickleInput {
 public:
  static constexpr size_t kAtOnce = size_t{1} << 20, kMaxTextBytes = size_t{1} << 30;
  explicit PickleInput(ByteStream& stream) : stream_(stream), buffer_(kAtOnce, '\0') {}

  // Makes `size` bytes of at most a buffer available at data(); false: the stream ends before.
  bool Need(size_t size) { return end_ - at_ >= size || Refill(size); }
  const char* data() const { return buffer_.data() + at_; }
  void Skip(size_t size) { at_ += size; }
  uint64_t position() const { return before_ + at_; }
  const std::optional<Error>& problem() const { return problem_; }

  // Appends `size` bytes to `out`; they may be more than a buffer.
  bool Take(uint64_t size, std::string& out) {
    while (size > 0) {
      if (!Need(1)) return false;
      const size_t part = std::min<uint64_t>(size, end_ - at_);
      out.append(data(), part);
      Skip(part), size -= part;
    }
    return true;
  }
  // A line without its end.
  bool TakeLine(std::string& out) {
    for (out.clear(); Need(1) && out.size() < kMaxTextBytes; Skip(1)) {
      if (*data() == '\n') return Skip(1), true;
      out += *data();
    }
    return false;
  }

 private:
  bool Refill(size_t size) {
    std::memmove(buffer_.data(), data(), end_ - at_);
    before_ += at_, end_ -= at_, at_ = 0;
    while (end_ < size && !problem_) {
      const auto got = stream_.Read(buffer_.data() + end_, buffer_.size() - end_);
      if (!got) problem_ = got.error();
      if (!got || *got == 0) return false;
      end_ += *got;
    }
    return end_ >= size;
  }

  ByteStream& stream_;
  std::string buffer_;
  size_t at_ = 0, end_ = 0;
  uint64_t before_ = 0;
  std::optional<Error> problem_;
};

}  // namespace gapless::internal
