// SPDX-License-Identifier: Apache-2.0
// The timeline as its contract says it, without any index: every event is looked at for every question. Tests hold the
// lanes against it, on recordings that are made up and on real ones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/strings.h"
#include "lanes/run_lanes.h"

namespace gapless::internal::testing {

struct PlainSpan {
  int64_t start = 0, end = 0, depth = 0, count = 1, busy = 0, longest = 0;
  int64_t id = -1;  // of the longest
  std::string name{};
  auto Key() const { return std::tie(depth, start, end, count, busy, id, name); }
  friend bool operator==(const PlainSpan& a, const PlainSpan& b) { return a.Key() == b.Key(); }
  friend bool operator<(const PlainSpan& a, const PlainSpan& b) { return a.Key() < b.Key(); }
  friend void PrintTo(const PlainSpan& span, std::ostream* out) {
    *out << span.name << " [" << span.start << ", " << span.end << ") depth " << span.depth << " count " << span.count
         << " busy " << span.busy << " id " << span.id;
  }
};
using PlainSpans = std::vector<PlainSpan>;

// All events of a stream or a thread, each in the first row that is free.
inline PlainSpans EventsOf(const TraceLanes& lanes, const Lane& lane) {
  const Trace& trace = *lanes.of().trace;
  const int64_t shift = lanes.of().ts_shift_ns;
  PlainSpans spans;
  if (lane.about.kind == LaneKind::kStream) {
    const GpuOpTable& ops = trace.gpu_ops;
    for (uint32_t row = 0; row < ops.size(); ++row)
      if (ops.device[row] == lane.about.device && ops.stream[row] == lane.about.stream)
        spans.push_back({ops.ts_ns[row] + shift, ops.ts_ns[row] + shift + ops.dur_ns[row], 0, 1, ops.dur_ns[row],
                         ops.dur_ns[row], lanes.of().Id(GpuOpId(row)), std::string(trace.Text(ops.name[row]))});
  } else {
    const SliceTable& slices = trace.slices;
    for (uint32_t row = 0; row < slices.size(); ++row)
      if (slices.thread[row] == lane.thread && (slices.category[row] == SliceCategory::kPython) == lane.python)
        spans.push_back({slices.ts_ns[row] + shift, slices.ts_ns[row] + shift + slices.dur_ns[row], 0, 1,
                         slices.dur_ns[row], slices.dur_ns[row], lanes.of().Id(SliceId(row)),
                         std::string(trace.Text(slices.name[row]))});
  }
  std::vector<int64_t> ends;
  for (PlainSpan& span : spans) {
    size_t depth = 0;
    while (depth < ends.size() && ends[depth] > span.start) ++depth;
    if (depth == ends.size()) ends.push_back(0);
    ends[depth] = span.end, span.depth = static_cast<int64_t>(depth);
  }
  return spans;
}

// Joins neighbours of a row that are shorter than a pixel, less than a pixel apart, and begin in the same 8 pixels.
inline PlainSpans MergedPlainly(const PlainSpans& events, int level) {
  const int64_t pixel = int64_t{1} << level;
  std::map<int64_t, PlainSpans> rows;
  for (const PlainSpan& event : events) {
    PlainSpans& row = rows[event.depth];
    const bool joins = level > 0 && !row.empty() && event.busy < pixel && row.back().longest < pixel &&
                       event.start - row.back().end < pixel &&
                       event.start / (8 * pixel) == row.back().start / (8 * pixel);
    if (!joins) {
      row.push_back(event);
      continue;
    }
    PlainSpan& last = row.back();
    if (event.busy > last.longest) last.longest = event.busy, last.id = event.id, last.name = event.name;
    last.end = std::max(last.end, event.end), last.busy += event.busy, ++last.count;
  }
  PlainSpans merged;
  for (const auto& [depth, row] : rows) merged.insert(merged.end(), row.begin(), row.end());
  return merged;
}

inline PlainSpans SpansIn(const TimelineTile& tile, int64_t lane) {
  PlainSpans spans;
  for (const TileLane& part : tile.lanes)
    for (size_t i = 0; part.lane == lane && i < part.start.size(); ++i)
      spans.push_back({part.start[i], part.start[i] + part.dur[i], part.depth[i], part.count[i], part.busy[i], 0,
                       part.id[i], std::string(tile.names[static_cast<size_t>(part.name[i])])});
  std::sort(spans.begin(), spans.end());
  return spans;
}

inline bool Touches(const PlainSpan& span, int64_t from, int64_t to) {
  return span.start < to && (span.end > from || span.start >= from);
}

// Checks all streams and threads at a level: each tile holds exactly what touches it, and over all tiles each event is
// counted once. Of more than `most_tiles` those are looked at that hold the beginning or end of some events.
inline void ExpectPlainTiles(const RunLanes& lanes, const TraceLanes& trace, int level, size_t most_tiles) {
  std::map<int64_t, std::pair<PlainSpans, int64_t>> expected;  // by lane: spans, events
  std::vector<int64_t> tiles;
  for (const Lane& lane : trace.lanes()) {
    if (lane.about.kind != LaneKind::kStream && lane.about.kind != LaneKind::kThread) continue;
    const PlainSpans events = EventsOf(trace, lane);
    EXPECT_EQ(lane.about.events, static_cast<int64_t>(events.size())) << lane.about.label;
    for (const PlainSpan& event : events)
      for (const int64_t ts : {event.start, event.end}) tiles.push_back(ts / (int64_t{1024} << level));
    expected[lane.about.lane] = {MergedPlainly(events, level), static_cast<int64_t>(events.size())};
  }
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  const bool all = tiles.size() <= most_tiles;
  const size_t stride = all ? 1 : tiles.size() / most_tiles + 1;
  std::map<int64_t, int64_t> counted;
  const TraceLanes* const traces[] = {&trace};
  for (size_t i = 0; i < tiles.size(); i += stride) {
    const TimelineTile tile = lanes.Tile(traces, level, tiles[i]);
    ASSERT_EQ(tile.from_ns, tiles[i] * (int64_t{1024} << level));
    for (const auto& [lane, plain] : expected) {
      PlainSpans touching;
      std::ranges::copy_if(plain.first, std::back_inserter(touching),
                           [&](const PlainSpan& span) { return Touches(span, tile.from_ns, tile.to_ns); });
      std::sort(touching.begin(), touching.end());
      const PlainSpans shown = SpansIn(tile, lane);
      ASSERT_EQ(shown, touching) << "level " << level << ", tile " << tiles[i] << ", lane " << lane;
      for (const PlainSpan& span : shown)
        if (span.start >= tile.from_ns) counted[lane] += span.count;
    }
  }
  if (!all) return;
  for (const auto& [lane, plain] : expected)
    EXPECT_EQ(counted[lane], plain.second) << "level " << level << ", lane " << lane;
}

}  // namespace gapless::internal::testing
