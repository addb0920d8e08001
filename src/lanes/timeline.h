// SPDX-License-Identifier: Apache-2.0
// The timeline as the page gets it (web/src): which lanes there are, and what each holds in a stretch of time. A lane
// is one row of the picture: what a device did, a stream, a host thread, a counter. Times are ns since the beginning of
// the run. Python frames have lanes of their own, below the one of their thread: they are deep and many, and whoever
// looks at operators wants to fold them away. So have a thread's calls of the operating system and samples of its
// stack.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"

namespace gapless::internal {

enum class LaneKind : uint8_t {
  kSteps,
  kAnnotations,
  kDevice,
  kIdle,
  kStream,
  kThread,
  kCalls,
  kSamples,
  kCounter,
  kMemory
};
inline constexpr std::string_view kLaneKindNames[] = {"steps",  "annotations", "device",  "idle",    "stream",
                                                      "thread", "calls",       "samples", "counter", "memory"};
constexpr std::string_view ToString(LaneKind kind) { return kLaneKindNames[static_cast<size_t>(kind)]; }
template <>
inline constexpr int64_t kValuesOf<LaneKind> = std::size(kLaneKindNames);

struct TimelineLane {
  int64_t lane = 0;
  LaneKind kind = LaneKind::kSteps;
  std::string label{};
  std::optional<int64_t> device{}, stream{}, tid{};
  int64_t depth = 1, events = 0;
  std::string unit{};
  static constexpr FieldInfo kFields[] = {
      Field<&TimelineLane::lane>("lane", "", "number, unique in the run"),
      Field<&TimelineLane::kind>("kind", "", "the events it holds; device: its states, one at a time"),
      Field<&TimelineLane::label>("label", "", "name to show"),
      Field<&TimelineLane::device>("device", "", "device; missing: not on one"),
      Field<&TimelineLane::stream>("stream", "", "stream; missing: not one"),
      Field<&TimelineLane::tid>("tid", "", "host thread; missing: not one"),
      Field<&TimelineLane::depth>("depth", "", "rows that it needs"),
      Field<&TimelineLane::events>("events", "count", "events that it holds"),
      Field<&TimelineLane::unit>("unit", "", "of the values of a counter", kUnlessEmpty),
  };
};

struct TimelineTrace {
  int64_t trace = 0;
  JsonScalar rank{};
  std::string host{}, name{};
  std::vector<TimelineLane> lanes{};
  static constexpr FieldInfo kFields[] = {
      Field<&TimelineTrace::trace>("trace", "", "key of table trace"),
      Field<&TimelineTrace::rank>("rank", "", "rank of the process; null: none"),
      Field<&TimelineTrace::host>("host", "", "machine; empty: not recorded"),
      Field<&TimelineTrace::name>("name", "", "name of the recording"),
      Field<&TimelineTrace::lanes>("lanes", "", "its lanes, from top to bottom"),
  };
};

struct TimelineStep {
  int64_t trace = 0, number = 0, ts_ns = 0, dur_ns = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&TimelineStep::trace>("trace", "", "key of table trace"),
      Field<&TimelineStep::number>("number", "", "number of the step"),
      Field<&TimelineStep::ts_ns>("ts_ns", "ns", "start on the host"),
      Field<&TimelineStep::dur_ns>("dur_ns", "ns", "duration on the host"),
  };
};

struct TimelineOverview {
  int64_t origin_ns = 0, from_ns = 0, to_ns = 0;
  std::vector<TimelineTrace> traces{};
  std::vector<TimelineStep> steps{};
  static constexpr FieldInfo kFields[] = {
      Field<&TimelineOverview::origin_ns>("origin_ns", "ns",
                                          "time 0 on the wall clock, or on the recorder's where it did not say"),
      Field<&TimelineOverview::from_ns>("from_ns", "ns", "beginning of the run"),
      Field<&TimelineOverview::to_ns>("to_ns", "ns", "end of the last event"),
      Field<&TimelineOverview::traces>("traces", "", "recordings, in the order of the run"),
      Field<&TimelineOverview::steps>("steps", "", "their steps"),
  };
};

// A lane's part of a tile; all lists are as long. Of a counter: `low` and `high`; of any other lane the rest.
struct TileLane {
  int64_t lane = 0;
  std::vector<int64_t> start{}, dur{}, depth{}, name{}, kind{}, count{}, busy{}, id{};
  std::vector<double> low{}, high{};
  static constexpr FieldInfo kFields[] = {
      Field<&TileLane::lane>("lane", "", "number of the lane"),
      Field<&TileLane::start>("start", "ns", "beginning of each span"),
      Field<&TileLane::dur>("dur", "ns", "its length; of several events: from the first start to the last end"),
      Field<&TileLane::depth>("depth", "", "row within the lane", kUnlessEmpty),
      Field<&TileLane::name>("name", "", "place in `names`; of several: of the longest", kUnlessEmpty),
      Field<&TileLane::kind>("kind", "", "place in `kinds`; of several: of the longest", kUnlessEmpty),
      Field<&TileLane::count>("count", "", "events that it stands for", kUnlessEmpty),
      Field<&TileLane::busy>("busy", "ns", "their durations added up", kUnlessEmpty),
      Field<&TileLane::id>("id", "", "of a stream in gpu_op, of a thread in slice; -1: none", kUnlessEmpty),
      Field<&TileLane::low>("low", "", "lowest value", kUnlessEmpty),
      Field<&TileLane::high>("high", "", "highest value", kUnlessEmpty),
  };
};

struct TimelineTile {
  int64_t level = 0, at = 0, from_ns = 0, to_ns = 0;
  std::vector<std::string_view> names{}, kinds{};
  std::vector<TileLane> lanes{};
  static constexpr FieldInfo kFields[] = {
      Field<&TimelineTile::level>("level", "", "a pixel is 2^level ns; at 0 nothing is merged"),
      Field<&TimelineTile::at>("at", "", "place of the tile: it begins at `at` times 1024 pixels"),
      Field<&TimelineTile::from_ns>("from_ns", "ns", "beginning"),
      Field<&TimelineTile::to_ns>("to_ns", "ns", "end"),
      Field<&TimelineTile::names>("names", "", "names of events"),
      Field<&TimelineTile::kinds>("kinds", "", "kinds of events: class, cause, category, state"),
      Field<&TimelineTile::lanes>("lanes", "", "lanes that hold something in it"),
  };
};

// The part of a timeline that a report holds.
struct TimelineExcerpt {
  TimelineOverview overview{};
  std::vector<TimelineTile> tiles{};
  static constexpr FieldInfo kFields[] = {
      Field<&TimelineExcerpt::overview>("overview", "", "lanes of the recordings that are drawn"),
      Field<&TimelineExcerpt::tiles>("tiles", "", "parts of different levels"),
  };
};

}  // namespace gapless::internal
