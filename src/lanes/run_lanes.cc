// SPDX-License-Identifier: Apache-2.0
#include "lanes/run_lanes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/thread_pool.h"

namespace gapless::internal {
namespace {

// Collects each distinct text of a tile once.
class TileTexts {
 public:
  explicit TileTexts(std::vector<std::string_view>& texts) : texts_(texts) {}
  int64_t PlaceOf(std::string_view text) {
    // Texts of a recording are interned, so the same text mostly lies at the same place.
    const auto [at, is_new] = places_.try_emplace(text, static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }

 private:
  std::vector<std::string_view>& texts_;
  std::unordered_map<std::string_view, int64_t> places_;
};

// The columns of one lane in one tile.
class TileWriter {
 public:
  explicit TileWriter(TimelineTile& tile) : tile_(tile), names_(tile.names), kinds_(tile.kinds) {}

  void Add(const TraceLanes& of, const Lane& lane) {
    TileLane out;
    out.lane = lane.about.lane;
    const auto level = static_cast<int>(tile_.level);
    lane.Visit(level, tile_.from_ns, tile_.to_ns, [&](size_t depth, const Span& span) {
      const SpanWords words = of.WordsOf(lane, span.row);
      AddTimes(out, span.start, span.end);
      out.depth.push_back(static_cast<int64_t>(depth));
      out.name.push_back(names_.PlaceOf(words.name));
      out.kind.push_back(kinds_.PlaceOf(words.kind));
      out.count.push_back(span.count);
      out.busy.push_back(span.busy);
      out.id.push_back(words.id);
    });
    for (const CounterLine& line : lane.counters) {
      line.Visit(level, tile_.from_ns, tile_.to_ns, [&](const Swing& swing) {
        AddTimes(out, swing.start, swing.end);
        out.low.push_back(swing.low);
        out.high.push_back(swing.high);
      });
    }
    if (!out.start.empty()) tile_.lanes.push_back(std::move(out));
  }

 private:
  static void AddTimes(TileLane& out, int64_t start, int64_t end) {
    out.start.push_back(start);
    out.dur.push_back(end - start);
  }

  TimelineTile& tile_;
  TileTexts names_, kinds_;
};

TimelineTrace AboutTrace(const Run& run, const TraceLanes& lanes) {
  const RunTrace& of = lanes.of();
  TimelineTrace about;
  about.trace = of.index;
  if (of.rank() != kAbsent) about.rank = of.rank();
  about.host = of.trace->info.host;
  about.name = RecordingName(run, of);
  for (const Lane& lane : lanes.lanes()) about.lanes.push_back(lane.about);
  return about;
}

void AddStepsOf(const RunTrace& of, std::vector<TimelineStep>& out) {
  const StepTable& steps = of.trace->steps;
  for (size_t row = 0; row < steps.size(); ++row)
    out.push_back({of.index, steps.number[row], steps.ts_ns[row] + of.ts_shift_ns, steps.dur_ns[row]});
}

}  // namespace

const std::vector<std::unique_ptr<TraceLanes>>& RunLanes::traces() const {
  made_.Call([this] {
    std::vector<const TraceTimeline*> chosen;
    for (const TraceTimeline& timeline : tables_.Timelines())
      if (!only_ || only_(timeline)) chosen.push_back(&timeline);
    std::vector<std::unique_ptr<TraceLanes>> made(chosen.size());
    std::optional<ThreadPool> pool;
    if (made.size() > 1) pool.emplace(std::min(made.size(), tables_.threads()));
    ForEach(pool ? &*pool : nullptr, made.size(),
            [&](size_t i) { made[i] = std::make_unique<TraceLanes>(*chosen[i]); });
    int64_t next = 0;
    for (const auto& trace : made) next = trace->Number(next);
    traces_ = std::move(made);
  });
  return traces_;
}

const TraceLanes* RunLanes::Of(int64_t trace) const {
  const auto found = std::ranges::find(traces(), trace, [](const auto& lanes) { return int64_t{lanes->of().index}; });
  return found == traces().end() ? nullptr : found->get();
}

TimelineOverview RunLanes::Overview() const {
  TimelineOverview overview;
  if (!traces().empty()) {
    const RunTrace& first = traces().front()->of();
    const TraceInfo& info = first.trace->info;
    const bool on_wall_clock = info.start_unix_ns != kAbsent;
    overview.origin_ns = (on_wall_clock ? info.start_unix_ns : info.origin_ns) - first.ts_shift_ns;
  }
  for (const auto& lanes : traces()) {
    overview.from_ns = std::min(overview.from_ns, lanes->begin_ns());
    overview.to_ns = std::max(overview.to_ns, lanes->end_ns());
    overview.traces.push_back(AboutTrace(run(), *lanes));
    AddStepsOf(lanes->of(), overview.steps);
  }
  return overview;
}

bool RunLanes::IsTile(int64_t level, int64_t at) {
  constexpr int64_t kFarthest = int64_t{1} << 61;  // ns: 73 years
  if (level < 0 || level > kMaxLevel) return false;
  const int64_t most = kFarthest / TileNs(static_cast<int>(level));
  return at >= -most && at <= most;
}

TimelineTile RunLanes::Tile(std::span<const TraceLanes* const> traces, int level, int64_t at,
                            bool (*shows)(const Lane&)) const {
  TimelineTile tile;
  tile.level = level, tile.at = at;
  tile.from_ns = at * TileNs(level), tile.to_ns = tile.from_ns + TileNs(level);
  TileWriter writer(tile);
  for (const TraceLanes* trace : traces)
    for (const Lane& lane : trace->lanes())
      if (shows == nullptr || shows(lane)) writer.Add(*trace, lane);
  return tile;
}

}  // namespace gapless::internal
