// SPDX-License-Identifier: Apache-2.0
// A growing list of integers that takes as much memory as its values need: nothing while all are equal, then 2, 4 or 8
// bytes for each, as the largest one does. Tables of a million rows have many columns of one value (the recording, the
// rank, the device) or of small ones (steps, texts of which there are few), and most others are durations below two
// seconds or numbers of rows.
#pragma once

#include <algorithm>
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
    if (width_ != Width::kWide)
      if (const Width needed = WidthOf(value); needed > width_) Widen(needed);
    switch (width_) {
      case Width::kNone: break;
      case Width::kShort: short_.push_back(static_cast<int16_t>(value)); break;
      case Width::kNarrow: narrow_.push_back(static_cast<int32_t>(value)); break;
      case Width::kWide: wide_.push_back(value); break;
    }
    ++size_;
  }

  // `at` is below size().
  int64_t operator[](size_t at) const {
    switch (width_) {
      case Width::kNone: break;
      case Width::kShort: return short_[at];
      case Width::kNarrow: return narrow_[at];
      case Width::kWide: return wide_[at];
    }
    return first_;
  }

  // Makes room for `count` values, when their number is known; none is taken while all are equal.
  void Reserve(size_t count) { expected_ = count; }

 private:
  enum class Width : uint8_t { kNone, kShort, kNarrow, kWide };  // kNone: all values equal first_
  template <class T>
  static bool Fits(int64_t value) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  }
  static Width WidthOf(int64_t value) {
    return Fits<int16_t>(value) ? Width::kShort : Fits<int32_t>(value) ? Width::kNarrow : Width::kWide;
  }

  // Moves the values so far to the list of a larger type, at least that of the first one.
  void Widen(Width needed) {
    if (width_ == Width::kNone) needed = std::max(needed, WidthOf(first_));
    switch (needed) {
      case Width::kNone: break;
      case Width::kShort: Fill(short_); break;
      case Width::kNarrow: Fill(narrow_); break;
      case Width::kWide: Fill(wide_); break;
    }
    if (width_ == Width::kShort) std::vector<int16_t>().swap(short_);
    if (width_ == Width::kNarrow) std::vector<int32_t>().swap(narrow_);
    width_ = needed;
  }
  template <class T>
  void Fill(std::vector<T>& list) const {
    list.reserve(std::max(expected_, size_ + 1));
    for (size_t at = 0; at < size_; ++at) list.push_back(static_cast<T>((*this)[at]));
  }

  int64_t first_ = 0;
  size_t size_ = 0, expected_ = 0;
  Width width_ = Width::kNone;
  std::vector<int16_t> short_{};
  std::vector<int32_t> narrow_{};
  std::vector<int64_t> wide_{};
};

}  // namespace gapless::internal
