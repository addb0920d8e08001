// SPDX-License-Identifier: Apache-2.0
// The lanes of one recording, each with its events by row and time. An index of row numbers over the columns of the
// trace: 4 bytes for an event, and what is merged of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/timeline.h"
#include "lanes/line.h"
#include "lanes/timeline.h"

namespace gapless::internal {

// One lane. It has lines of one kind: of events in tables, of states that were made from them, or of a counter.
struct Lane {
  TimelineLane about{};
  ThreadId thread{};                       // set for lanes of a thread
  bool python = false;                     // true: the lane has the thread's Python frames
  const DeviceTimeline* device = nullptr;  // set for the lanes `device` and `idle`
  std::vector<EventLine> events{};
  std::vector<StateLine> states{};
  std::vector<CounterLine> counters{};

  // Calls emit(depth, span) for all that touches [from, to), row after row; not of counters.
  template <class Emit>
  void Visit(int level, int64_t from, int64_t to, Emit&& emit) const {
    for (size_t depth = 0; depth < events.size(); ++depth)
      events[depth].Visit(level, from, to, [&](const Span& span) { emit(depth, span); });
    for (size_t depth = 0; depth < states.size(); ++depth)
      states[depth].Visit(level, from, to, [&](const Span& span) { emit(depth, span); });
  }
};

// The words of the page for a span: those of its longest event.
struct SpanWords {
  std::string_view name, kind;
  int64_t id = -1;
};

class TraceLanes {
 public:
  // Makes the index, which takes a pass over all events. The timeline, and the run it is of, must outlive it.
  explicit TraceLanes(const TraceTimeline& timeline);

  const RunTrace& of() const { return *timeline_->of; }
  const TraceTimeline& timeline() const { return *timeline_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  // Numbers the lanes from `first` on; returns the number after the last.
  int64_t Number(int64_t first);

  SpanWords WordsOf(const Lane& lane, uint32_t row) const;
  // The lane of a row; null: of none.
  const Lane* LaneOf(GpuOpId row) const;
  const Lane* LaneOf(SliceId row) const;
  const Lane* LaneOf(LaneKind kind, int64_t tid) const;  // of a thread's calls of the system, or samples
  const Lane* FirstOf(LaneKind kind) const;

  // From 0, or the first event before it, to the end of the last one, in run time.
  int64_t begin_ns() const { return begin_ns_; }
  int64_t end_ns() const { return end_ns_; }
  // The same of the last slice or device operation: the system may have been watched for longer.
  int64_t end_of_work_ns() const { return end_of_work_ns_; }

 private:
  struct SystemOfThreads;

  void AddSteps();
  void AddDevice(const DeviceTimeline& device);
  void AddStreams(const DeviceTimeline& device);
  void AddAnnotations(const DeviceTimeline& device);
  void AddThreads();
  void AddSystemOf(int64_t tid, const std::string& label, SystemOfThreads& system);
  void AddRestOf(SystemOfThreads& system);
  void AddCounters();
  void AddMemory();
  void Finish();

  const TraceTimeline* timeline_;
  std::vector<Lane> lanes_;
  int64_t begin_ns_ = 0, end_of_work_ns_, end_ns_;
};

}  // namespace gapless::internal
