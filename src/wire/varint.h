// SPDX-License-Identifier: Apache-2.0
// Numbers in as few bytes as they need: seven bits a byte, the lowest first, the top bit says that more follow. Signed
// numbers are folded (0, -1, 1, -2 … become 0, 1, 2, 3 …), so that small differences stay short. Plain functions
// without a library behind them: both the recorder inside other people's programs and the reader use them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gapless::internal::wire {

inline constexpr size_t kMaxVarintBytes = 10;

// Writes at most kMaxVarintBytes to `out`; returns the end.
inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

constexpr uint64_t Fold(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t Unfold(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

// Reads the fields of one record, in order. What is not there (the record is shorter, or broken) reads as 0.
class FieldReader {
 public:
  FieldReader(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {}

  uint64_t Next() {
    uint64_t value = 0;
    for (unsigned shift = 0; at_ < end_ && shift < 64; shift += 7) {
      const uint8_t byte = *at_++;
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    if (at_ == end_) missing_ = true;
    return value;
  }
  int64_t NextSigned() { return Unfold(Next()); }

  // Takes `size` bytes, or what is left of them.
  const uint8_t* Bytes(size_t& size) {
    const uint8_t* const bytes = at_;
    if (size > static_cast<size_t>(end_ - at_)) size = static_cast<size_t>(end_ - at_), missing_ = true;
    at_ += size;
    return bytes;
  }

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool missing() const { return missing_; }  // a field was asked for that is not, or not wholly, there

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  bool missing_ = false;
};

}  // namespace gapless::internal::wire
