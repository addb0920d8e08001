// SPDX-License-Identifier: Apache-2.0
// A LaneLine holds what does not overlap: the events of one lane in one depth, by time. It answers for any stretch at
// any level in time that depends on what is drawn, not on what was recorded: merged forms of coarser levels are kept
// where they are a quarter of the finer one or less.
#pragma once

#include <utility>
#include <vector>

#include "lanes/merge.h"
#include "trace/column.h"

namespace gapless::internal {

// Spans that are held as they are.
template <class S>
struct OwnSpans {
  std::vector<S> spans{};
  size_t size() const { return spans.size(); }
  const S& operator[](size_t i) const { return spans[i]; }
};

// Spans that stand in columns of a table, which outlives this: rows of it, moved to run time.
struct RowSpans {
  std::vector<uint32_t> rows{};
  const Column<int64_t>* ts = nullptr;
  const Column<int64_t>* dur = nullptr;
  int64_t shift = 0;
  size_t size() const { return rows.size(); }
  Span operator[](size_t i) const {
    const uint32_t row = rows[i];
    const int64_t start = (*ts)[row] + shift, length = (*dur)[row];
    return {start, start + length, length, length, row, 1};
  }
};

template <class S, class Spans>
class LaneLine {
 public:
  LaneLine() = default;
  explicit LaneLine(Spans spans) : spans_(std::move(spans)) {}

  size_t size() const { return spans_.size(); }
  Spans& spans() { return spans_; }
  const Spans& spans() const { return spans_; }

  // Makes the merged forms. To be called once, when all spans are there.
  void Finish() {
    const auto all = [this](size_t i) { return spans_[i]; };
    for (int level = kFirstKept; level <= kMaxLevel; level += kBetweenKept) {
      const size_t finer = merged_.empty() ? spans_.size() : merged_.back().spans.size();
      if (finer < kFew) return;
      Merged next{level, {}};
      const auto keep = [&](const S& span) { next.spans.push_back(span); };
      if (merged_.empty())
        MergeWithin(level, spans_.size(), finer / 4, all, keep, next.spans);
      else
        MergeWithin(
            level, finer, finer / 4, [&](size_t i) { return merged_.back().spans[i]; }, keep, next.spans);
      if (next.spans.empty()) continue;
      next.spans.shrink_to_fit();
      merged_.push_back(std::move(next));
    }
  }

  // Calls emit(span) for each that touches [from, to), in order: those that begin or are in it. `from` and `to` are
  // edges of cells of the level. A run is in each stretch that it reaches into, whole.
  template <class Emit>
  void Visit(int level, int64_t from, int64_t to, Emit&& emit) const {
    const Merged* kept = nullptr;
    for (const Merged& merged : merged_)
      if (merged.level <= level) kept = &merged;
    if (kept != nullptr)
      VisitIn(
          level, from, to, kept->spans.size(), [&](size_t i) -> const S& { return kept->spans[i]; }, emit);
    else
      VisitIn(
          level, from, to, spans_.size(), [this](size_t i) { return spans_[i]; }, emit);
  }

 private:
  static constexpr int kFirstKept = 8, kBetweenKept = 4;
  static constexpr size_t kFew = 256, kBlock = 4096;
  struct Merged {
    int level = 0;
    std::vector<S> spans{};
  };

  // Merges until there are more than `most`, of which nothing is left then: such a level is not worth its memory.
  template <class At, class Keep>
  static void MergeWithin(int level, size_t size, size_t most, At&& at, Keep&& keep, std::vector<S>& out) {
    for (size_t first = 0; first < size;) {
      size_t last = std::min(size, first + kBlock);
      // Cells are independent of each other, so a block ends with one.
      while (last < size && CellOf(at(last).start, level) == CellOf(at(last - 1).start, level)) ++last;
      MergeSpans<S>(level, first, last, at, keep);
      first = last;
      if (out.size() > most) return out.clear();
    }
  }

  // The number of spans that begin before `ts`.
  template <class At>
  static size_t CountBefore(int64_t ts, size_t size, At&& at) {
    size_t low = 0, high = size;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (at(middle).start < ts)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  // Only the last span that begins before the cell in front of `from` can reach `from`, and it is no run: the
  // end of a run is less than a pixel behind its cell.
  template <class At, class Emit>
  static void VisitIn(int level, int64_t from, int64_t to, size_t size, At&& at, Emit&& emit) {
    const size_t first = CountBefore(from - CellNs(level), size, at), last = CountBefore(to, size, at);
    if (first > 0 && at(first - 1).end > from) emit(at(first - 1));
    MergeSpans<S>(level, first, last, at, [&](const S& span) {
      if (span.start >= from || span.end > from) emit(span);
    });
  }

  Spans spans_{};
  std::vector<Merged> merged_{};
};

using EventLine = LaneLine<Span, RowSpans>;
using StateLine = LaneLine<Span, OwnSpans<Span>>;
using CounterLine = LaneLine<Swing, OwnSpans<Swing>>;

}  // namespace gapless::internal
