// SPDX-License-Identifier: Apache-2.0
// Sweeps the operations of each device once, then cuts its idle gaps by the state of the launching thread. Gaps come in
// order, so every thread's track is walked once.
#include "analyses/timeline.h"

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <map>
#include <utility>

namespace gapless::internal {
namespace {

// The list of a timeline that an operation belongs to.
enum List : uint8_t { kCompute, kCommunication, kCopies, kLists };
List ListOf(const GpuOpTable& ops, uint32_t row) {
  if (ops.kind[row] != GpuOpKind::kKernel) return kCopies;
  return ops.op_class[row] == GpuOpClass::kCommunication ? kCommunication : kCompute;
}
using Counts = std::array<size_t, kLists>;

// Takes the operations of one device in order of their start. Every list has room for all of them from the beginning:
// what stays unused takes no memory, because nothing is written there.
class DeviceSweep {
 public:
  DeviceSweep(const GpuOpTable& ops, Interval window, const Counts& counts) : ops_(ops), window_(window) {
    const size_t all = counts[kCompute] + counts[kCommunication] + counts[kCopies];
    timeline_.rows.reserve(all);
    timeline_.gaps.reserve(all + 1);
    for (const List list : {kCompute, kCommunication, kCopies}) OfKind(list).reserve(counts[list]);
  }

  void Add(uint32_t row) {
    const int64_t start = ops_.ts_ns[row], end = start + ops_.dur_ns[row];
    timeline_.rows.push_back(row);
    timeline_.first += start < window_.start ? 1 : 0;
    timeline_.last += start < std::max(window_.start, window_.end) ? 1 : 0;
    AppendMerged(OfKind(ListOf(ops_, row)), {start, end});
    if (start > busy_until_) AddGap(start, GpuOpId(row));
    if (end > busy_until_ || !last_.valid()) busy_until_ = end, last_ = GpuOpId(row);
  }

  DeviceTimeline Finish(int32_t device) {
    AddGap(std::numeric_limits<int64_t>::max(), GpuOpId());
    timeline_.device = device;
    timeline_.exposed_communication = Subtract(timeline_.communication, timeline_.compute);
    timeline_.exposed_copies = Subtract(Subtract(timeline_.copies, timeline_.compute), timeline_.communication);
    return std::move(timeline_);
  }

 private:
  Intervals& OfKind(List list) {
    if (list == kCopies) return timeline_.copies;
    return list == kCommunication ? timeline_.communication : timeline_.compute;
  }

  void AddGap(int64_t until, GpuOpId next) {
    const Interval span{std::max(busy_until_, window_.start), std::min(until, window_.end)};
    if (span.end > span.start) timeline_.gaps.push_back({.span = span, .previous = last_, .next = next});
  }

  const GpuOpTable& ops_;
  Interval window_;
  DeviceTimeline timeline_;
  int64_t busy_until_ = std::numeric_limits<int64_t>::min();
  GpuOpId last_;
};

std::vector<DeviceTimeline> SweepDevices(const Trace& trace, Interval window) {
  const GpuOpTable& ops = trace.gpu_ops;
  std::map<int32_t, Counts> counts;
  for (uint32_t row = 0; row < ops.size(); ++row) ++counts[ops.device[row]][ListOf(ops, row)];
  std::map<int32_t, DeviceSweep> sweeps;
  for (const auto& [device, of_device] : counts) sweeps.try_emplace(device, ops, window, of_device);
  auto at = sweeps.end();
  for (uint32_t row = 0; row < ops.size(); ++row) {
    const int32_t device = ops.device[row];
    if (at == sweeps.end() || at->first != device) at = sweeps.find(device);
    at->second.Add(row);
  }
  std::vector<DeviceTimeline> timelines;
  for (auto& [device, sweep] : sweeps) timelines.push_back(sweep.Finish(device));
  return timelines;
}

// Cuts the gaps of one device into parts. Gaps come in order, so every track is walked once.
class Attribution {
 public:
  Attribution(const Trace& trace, const HostTracks& host, DeviceTimeline& timeline)
      : trace_(trace), host_(host), timeline_(timeline) {}

  // `attribute` false: every gap is one part of unknown cause.
  void Run(bool attribute) {
    if (attribute) at_.resize(host_.tracks.size());
    timeline_.parts.reserve(attribute ? timeline_.gaps.size() * 3 : timeline_.gaps.size());
    for (IdleGap& gap : timeline_.gaps) {
      gap.first_part = static_cast<uint32_t>(timeline_.parts.size());
      attribute ? Cut(gap) : Add(gap.span.start, gap.span.end, IdleCause::kUnknown, SliceId());
      gap.part_count = static_cast<uint32_t>(timeline_.parts.size()) - gap.first_part;
    }
  }

 private:
  void Cut(const IdleGap& gap) {
    const auto [g0, g1] = gap.span;
    if (!gap.next.valid()) return AddAllThreads(g0, g1, SliceId());
    const SliceId launch = trace_.gpu_ops.launch[gap.next.value];
    if (!launch.valid()) return Add(g0, g1, IdleCause::kUnknown, SliceId());
    const int64_t call_start = trace_.slices.ts_ns[launch.value];
    const int64_t call_end = call_start + trace_.slices.dur_ns[launch.value];
    const int64_t issued = std::clamp(call_start, g0, g1), queued = std::clamp(call_end, g0, g1);
    AddThread(launch, g0, issued);
    Add(issued, queued, CopiesWhileCalled(launch, gap.next) ? IdleCause::kSync : IdleCause::kLaunch, launch);
    const bool fresh = call_end > g0;
    const bool own_cost = g1 - queued <= (fresh ? kFreshStartNs : kQueuedStartNs);
    Add(queued, g1, own_cost ? IdleCause::kLaunch : IdleCause::kUnknown, launch);
  }

  // Does the call itself move the data, or wait for it? Copies from pageable memory are staged by the calling thread.
  bool CopiesWhileCalled(SliceId launch, GpuOpId op) const {
    const CopyKind copy = trace_.gpu_ops.copy_kind[op.value];
    return trace_.slices.api[launch.value] == ApiKind::kBlockingMemcpy || copy == CopyKind::kHtoDPageable ||
           copy == CopyKind::kDtoHPageable;
  }

  // Adds what the thread of `launch` did from start to end.
  void AddThread(SliceId launch, int64_t start, int64_t end) {
    const int32_t track = host_.track_of_thread[trace_.slices.thread[launch.value].value];
    if (track < 0 || start >= end) return;  // every launching thread has a track
    const auto at = static_cast<size_t>(track);
    WalkTrack(host_.tracks[at], at_[at], start, end, [&](int64_t from, int64_t to, const HostStretch& stretch) {
      if (stretch.state >= HostState::kLaunch)
        Add(from, to, CauseOf(stretch.state), stretch.slice);
      else
        AddAllThreads(from, to, stretch.slice);
    });
  }

  void AddAllThreads(int64_t start, int64_t end, SliceId own) {
    if (host_.tracks.empty()) return Add(start, end, IdleCause::kUnknown, SliceId());
    WalkTrack(host_.all, at_all_, start, end, [&](int64_t from, int64_t to, const HostStretch& stretch) {
      const bool stronger = stretch.state >= HostState::kLaunch || !own.valid();
      Add(from, to, CauseOf(stretch.state), stronger ? stretch.slice : own);
    });
  }

  void Add(int64_t start, int64_t end, IdleCause cause, SliceId slice) {
    if (start < end) timeline_.parts.push_back({start, slice, cause});
  }

  static IdleCause CauseOf(HostState state) {
    switch (state) {
      case HostState::kData: return IdleCause::kData;
      case HostState::kSync: return IdleCause::kSync;
      case HostState::kLaunch: return IdleCause::kLaunch;
      case HostState::kHost:
      case HostState::kNone: break;
    }
    return IdleCause::kHost;
  }

  const Trace& trace_;
  const HostTracks& host_;
  DeviceTimeline& timeline_;
  std::vector<size_t> at_;
  size_t at_all_ = 0;
};

}  // namespace

IdleCause DeviceTimeline::MainCause(const IdleGap& gap) const {
  std::array<int64_t, kIdleCauses> sums{};
  for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part)
    sums[static_cast<size_t>(parts[part].cause)] += PartEnd(gap, part) - parts[part].start;
  return static_cast<IdleCause>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

TraceTimeline MakeTimeline(const RunTrace& of, const std::function<Window()>& window, bool beside) {
  TraceTimeline timeline;
  timeline.of = &of;
  const Trace& trace = *of.trace;
  // If the system refuses another thread, this one does the work when it needs the result.
  const auto policy = beside ? std::launch::async | std::launch::deferred : std::launch::deferred;
  std::future<HostTracks> states = std::async(policy, [&trace] { return FlattenHostStates(trace); });
  timeline.window = window();
  timeline.devices = SweepDevices(trace, timeline.window.span);
  const HostTracks host = states.get();
  const bool attribute = timeline.devices.size() <= kMaxAttributedDevices;
  for (DeviceTimeline& device : timeline.devices) Attribution(trace, host, device).Run(attribute);
  return timeline;
}

}  // namespace gapless::internal
