// SPDX-License-Identifier: Apache-2.0
// Events become fewer when they are seen from afar. At level L a pixel is 2^L ns. Neighbours that are shorter than
// a pixel, with less than a pixel between them, become one, as long as they begin in the same cell of kCellPixels: a
// cell keeps a long stretch of short events from becoming a single span that says nothing of where it is dense, and
// makes each cell independent of the others. At level 0 nothing is merged.
//
// Merging what was merged at a finer level gives the same as merging the events themselves: members of a finer run are
// short and near at a coarser level, too, and cells of a finer level lie within those of a coarser one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gapless::internal {

inline constexpr int kMaxLevel = 44;          // a tile is then 208 days long
inline constexpr int kCellShift = 3;          // a cell is 8 pixels
inline constexpr int64_t kTilePixels = 1024;  // width of a tile, a multiple of a cell's width

constexpr int64_t PixelNs(int level) { return int64_t{1} << level; }
constexpr int64_t CellNs(int level) { return int64_t{1} << (level + kCellShift); }
constexpr int64_t TileNs(int level) { return kTilePixels << level; }
constexpr int64_t CellOf(int64_t ns, int level) { return ns >> (level + kCellShift); }
constexpr int64_t TileAt(int64_t ns, int level) { return ns >> (level + 10); }

// One event, or several that are drawn as one.
struct Span {
  int64_t start = 0, end = 0;
  int64_t busy = 0;     // durations added up
  int64_t longest = 0;  // duration of the longest
  uint32_t row = 0;     // row of the longest
  uint32_t count = 1;

  void Take(const Span& next) {
    if (next.longest > longest) longest = next.longest, row = next.row;
    end = std::max(end, next.end), busy += next.busy, count += next.count;
  }
};

// The value of a counter from one sample to the next, or the lowest and highest of several.
struct Swing {
  int64_t start = 0, end = 0;
  int64_t longest = 0;
  double low = 0, high = 0;
  uint32_t count = 1;

  void Take(const Swing& next) {
    longest = std::max(longest, next.longest);
    low = std::min(low, next.low), high = std::max(high, next.high);
    end = std::max(end, next.end), count += next.count;
  }
};

// Calls `emit` with what the spans [first, last) are at `level`. `at(i)`: span i; they are sorted and do not overlap.
template <class S, class At, class Emit>
void MergeSpans(int level, size_t first, size_t last, At&& at, Emit&& emit) {
  const int64_t pixel = level == 0 ? 0 : PixelNs(level);
  S run;
  bool open = false;
  for (size_t i = first; i < last; ++i) {
    const S span = at(i);
    const bool is_short = span.longest < pixel;
    if (open && is_short && span.start - run.end < pixel && CellOf(span.start, level) == CellOf(run.start, level)) {
      run.Take(span);
      continue;
    }
    if (open) emit(run);
    open = is_short;
    if (is_short)
      run = span;
    else
      emit(span);
  }
  if (open) emit(run);
}

}  // namespace gapless::internal
