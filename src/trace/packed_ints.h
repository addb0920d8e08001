// SPDX-License-Identifier: Apache-2.0
// A growing list of integers that takes as much memory as its values need: nothing while all are equal, 4 bytes for
// each while all fit into 32 bits, then 8. Tables of a million rows have many columns of one value (the recording, the
// rank, the device), and most others are durations below two seconds or numbers of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gapless::internal {

class PackedInts {
 public:
  size_t size() const { return size_; }

  void Add(int64_t value) {
    if (size_ == 0) first_ = value;
    if (width_ == Width::kNone && value == first_) {
      ++size_;
      return;
    }
    if (const Width needed = WidthOf(value); needed > width_) Widen(needed);
    if (width_ == Width::kNarrow)
      narrow_.push_back(static_cast<int32_t>(value));
    else
      wide_.push_back(value);
    ++size_;
  }

  // `at` is below size().
  int64_t operator[](size_t at) const {
    if (width_ == Width::kNarrow) return narrow_[at];
    return width_ == Width::kWide ? wide_[at] : first_;
  }

  // Makes room for `count` values, when their number is known; none is taken while all are equal.
  void Reserve(size_t count) { expected_ = count; }

 private:
  enum class Width : uint8_t { kNone, kNarrow, kWide };  // kNone: all values equal first_
  static Width WidthOf(int64_t value) {
    const bool fits = value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
    return fits ? Width::kNarrow : Width::kWide;
  }

  void Widen(Width needed) {
    const size_t room = expected_ > size_ ? expected_ : size_ + 1;
    if (width_ == Width::kNone && needed < WidthOf(first_)) needed = WidthOf(first_);
    if (needed == Width::kNarrow) {
      narrow_.reserve(room);
      narrow_.assign(size_, static_cast<int32_t>(first_));
    } else {
      wide_.reserve(room);
      if (width_ == Width::kNarrow)
        wide_.assign(narrow_.begin(), narrow_.end());
      else
        wide_.assign(size_, first_);
      std::vector<int32_t>().swap(narrow_);
    }
    width_ = needed;
  }

  int64_t first_ = 0;
  size_t size_ = 0, expected_ = 0;
  Width width_ = Width::kNone;
  std::vector<int32_t> narrow_{};
  std::vector<int64_t> wide_{};
};

}  // namespace gapless::internal
