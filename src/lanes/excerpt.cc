// SPDX-License-Identifier: Apache-2.0
// Levels are tried from the coarsest to the finest, so that what is counted never is much more than what fits. A tile
// repeats the names that it needs, so there are few tiles, and names are cut.
#include "lanes/excerpt.h"

#include <algorithm>
#include <optional>

#include "analyses/drawn_traces.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMostTiles = 8;     // tiles of one level
constexpr size_t kLongestName = 200;  // bytes
constexpr size_t kMostSteps = 4'000;  // that are listed beside their lane

// Returns false for deep or dense lanes, which would leave no room for the rest: Python frames, what the system saw.
bool IsShown(const Lane& lane) {
  return !lane.python && lane.about.kind != LaneKind::kCalls && lane.about.kind != LaneKind::kSamples;
}

using Drawn = std::vector<const TraceLanes*>;

// Returns how many spans the tiles hold; more than `most`: that many or more.
size_t CountSpans(const Drawn& traces, int level, Interval span, size_t most) {
  size_t count = 0;
  const int64_t from = TileAt(span.start, level) * TileNs(level),
                to = (TileAt(span.end - 1, level) + 1) * TileNs(level);
  for (const TraceLanes* trace : traces) {
    for (const Lane& lane : trace->lanes()) {
      if (!IsShown(lane)) continue;
      lane.Visit(level, from, to, [&](size_t, const Span&) { ++count; });
      for (const CounterLine& line : lane.counters) line.Visit(level, from, to, [&](const Swing&) { ++count; });
      if (count > most) return count;
    }
  }
  return count;
}

std::optional<int> FinestLevel(const Drawn& traces, Interval span, size_t most) {
  std::optional<int> finest;
  for (int level = kMaxLevel; level >= 0; --level) {
    if (TileAt(span.end - 1, level) - TileAt(span.start, level) >= kMostTiles) break;
    if (CountSpans(traces, level, span, most) > most) break;
    finest = level;
  }
  return finest;
}

// Cuts a text where a character begins.
std::string_view CutName(std::string_view name) {
  if (name.size() <= kLongestName) return name;
  size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end);
}

void AddTiles(const RunLanes& lanes, const Drawn& traces, Interval span, size_t most,
              std::vector<TimelineTile>& tiles) {
  if (span.length() <= 0) return;
  const std::optional<int> level = FinestLevel(traces, span, most);
  if (!level) return;
  for (int64_t at = TileAt(span.start, *level); at <= TileAt(span.end - 1, *level); ++at) {
    TimelineTile tile = lanes.Tile(traces, *level, at, IsShown);
    for (std::string_view& name : tile.names) name = CutName(name);
    tiles.push_back(std::move(tile));
  }
}

// The slowest step on the run's axis; empty: no step is complete.
Interval SlowestSpan(Tables& tables) {
  const TraceTimeline* owner = nullptr;
  const StepWindow* slowest = SlowestStepOf(tables.Timelines(), owner);
  if (slowest == nullptr) return {};
  const int64_t shift = owner->of->ts_shift_ns;
  return {slowest->span.start + shift, slowest->span.end + shift};
}

}  // namespace

TimelineExcerpt ExcerptOf(Tables& tables, size_t most) {
  const std::vector<const TraceTimeline*> drawn = DrawnTraces(tables);
  const RunLanes lanes(
      tables, [&](const TraceTimeline& timeline) { return std::ranges::find(drawn, &timeline) != drawn.end(); });
  Drawn traces;
  for (const auto& trace : lanes.traces()) traces.push_back(trace.get());
  TimelineExcerpt excerpt;
  excerpt.overview = lanes.Overview();
  excerpt.overview.from_ns = excerpt.overview.to_ns = 0;
  for (const TraceLanes* trace : traces)
    excerpt.overview.to_ns = std::max(excerpt.overview.to_ns, trace->end_of_work_ns());
  for (TimelineTrace& trace : excerpt.overview.traces) {
    const std::vector<Lane>& all = lanes.Of(trace.trace)->lanes();
    std::erase_if(trace.lanes, [&](const TimelineLane& about) {
      const auto lane = std::ranges::find(all, about.lane, [](const Lane& one) { return one.about.lane; });
      return !IsShown(*lane);
    });
    for (TimelineLane& lane : trace.lanes) lane.label = CutName(lane.label);
  }
  if (excerpt.overview.steps.size() > kMostSteps) excerpt.overview.steps.resize(kMostSteps);
  AddTiles(lanes, traces, {0, excerpt.overview.to_ns}, most / 2, excerpt.tiles);
  AddTiles(lanes, traces, SlowestSpan(tables), most / 2, excerpt.tiles);
  return excerpt;
}

}  // namespace gapless::internal
