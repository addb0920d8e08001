// SPDX-License-Identifier: Apache-2.0
// Segments<T>: a growing column in pieces of fixed length, each given back to the system on its own.
//
// A std::vector would copy while it grows and hold twice its size; here growing allocates one piece, and merging can
// free a column as soon as it has been copied out. Several Segments of one table grow in step: the table keeps the row
// count. A GrowingColumn takes no segment while all of its rows have one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/column.h"

namespace gapless::internal {

inline constexpr size_t kSegmentBits = 14;
inline constexpr size_t kSegmentRows = size_t{1} << kSegmentBits;
inline constexpr size_t kSegmentMask = kSegmentRows - 1;

// Segments do not count their rows: the caller calls Grow() before it writes to the first row of a segment.
template <class T>
class Segments {
 public:
  // Makes room for the rows of one more segment. Whoever fills one will soon fill the next, so it comes with its pages.
  void Grow() { segments_.push_back(AllocatePages(kSegmentRows * sizeof(T), !segments_.empty())); }
  size_t segments() const { return segments_.size(); }
  T& operator[](size_t row) { return Data(row >> kSegmentBits)[row & kSegmentMask]; }
  const T& operator[](size_t row) const { return Data(row >> kSegmentBits)[row & kSegmentMask]; }
  T* Data(size_t segment) const { return reinterpret_cast<T*>(segments_[segment].get()); }
  void Free() { segments_ = {}; }
  void FreeSegment(size_t segment) { segments_[segment] = nullptr; }

 private:
  std::vector<std::shared_ptr<std::byte>> segments_;
};

// A GrowingColumn holds one column of a shard's rows, which are added one after the other.
template <class T>
class GrowingColumn {
 public:
  // Sets the value of row `at`: the next row, or an earlier one if the rows from there on were dropped.
  void Add(size_t at, T value) {
    if (same()) {
      if (at == 0) only_ = value;
      if (SameBits(value, only_)) return;
      Spread(at);
    }
    if ((at & kSegmentMask) == 0 && (at >> kSegmentBits) == segments_.segments()) segments_.Grow();
    segments_[at] = value;
  }
  // True while all rows have one value.
  bool same() const { return segments_.segments() == 0; }
  const T& operator[](size_t row) const { return same() ? only_ : segments_[row]; }
  // The segment of a column that is not same().
  const T* Data(size_t segment) const { return segments_.Data(segment); }
  // Changes the value of one of the first `rows` rows, which are all there are.
  void Set(size_t row, T value, size_t rows) {
    if (SameBits((*this)[row], value)) return;
    if (same()) Spread(rows);
    segments_[row] = value;
  }
  void Free() { segments_.Free(); }

 private:
  // Stores the value of each of the first `rows` rows, and makes room for one more.
  void Spread(size_t rows) {
    for (size_t first = 0; first <= rows; first += kSegmentRows) {
      segments_.Grow();
      std::fill_n(segments_.Data(first >> kSegmentBits), std::min(kSegmentRows, rows - first), only_);
    }
  }

  Segments<T> segments_;
  T only_{};  // of all rows, while there is no segment
};

// A list of rows kept whole, for tables that are small or are rebuilt anyway.
template <class Row>
class RowList {
 public:
  void Add(const Row& row) {
    if ((size_ & kSegmentMask) == 0 && (size_ >> kSegmentBits) == rows_.segments()) rows_.Grow();
    rows_[size_++] = row;
  }
  size_t size() const { return size_; }
  void Truncate(size_t size) { size_ = size; }
  const Row& operator[](size_t row) const { return rows_[row]; }
  Row& operator[](size_t row) { return rows_[row]; }
  // For a reader that goes through the rows once: those of the segment that ends before `row` are not needed any more.
  void FreeBefore(size_t row) {
    if ((row & kSegmentMask) == 0 && row > 0) rows_.FreeSegment((row >> kSegmentBits) - 1);
  }
  void Free() {
    rows_.Free();
    size_ = 0;
  }

 private:
  Segments<Row> rows_;
  size_t size_ = 0;
};

}  // namespace gapless::internal
