// SPDX-License-Identifier: Apache-2.0
// Segments<T>: a growing column in pieces of fixed length, each given back to the system on its own.
//
// A std::vector would copy while it grows and hold twice its size; here growing allocates one piece, and merging can
// free a column as soon as it has been copied out. Several Segments of one table grow in step: the table keeps the row
// count.
#pragma once

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
  // Makes room for the rows of one more segment.
  void Grow() { segments_.push_back(AllocatePages(kSegmentRows * sizeof(T))); }
  size_t segments() const { return segments_.size(); }
  T& operator[](size_t row) { return Data(row >> kSegmentBits)[row & kSegmentMask]; }
  const T& operator[](size_t row) const { return Data(row >> kSegmentBits)[row & kSegmentMask]; }
  T* Data(size_t segment) const { return reinterpret_cast<T*>(segments_[segment].get()); }
  void Free() { segments_ = {}; }

 private:
  std::vector<std::shared_ptr<std::byte>> segments_;
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
  void Free() {
    rows_.Free();
    size_ = 0;
  }

 private:
  Segments<Row> rows_;
  size_t size_ = 0;
};

}  // namespace gapless::internal
