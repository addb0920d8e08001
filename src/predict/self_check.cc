// SPDX-License-Identifier: Apache-2.0
// Compares the replay with the recording, with faster kernels, slower kernels and a faster host.
#include "predict/self_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/intervals.h"
#include "analyses/window.h"
#include "base/strings.h"
#include "base/timings.h"
#include "predict/device_order.h"
#include "predict/program.h"
#include "predict/step_time.h"

namespace gapless::internal {
namespace {

constexpr int64_t kReturnNs = 5'000, kShortCallNs = 5'000;

// The amount of work in the recording, without a replay.
struct RecordedWork {
  int64_t host_ns = 0, device_ns = 0, busiest_stream_ns = 0;  // H, G, B in the window
  int64_t neither_ns = 0;                                     // U: neither the host nor a device worked
  int64_t window_ns = 0;
};

bool IsWork(const Trace& trace, uint32_t row) {
  return trace.slices.api[row] != ApiKind::kNone || IsOwnWork(trace, row);
}

// Time in calls that waits for the device: of blocking calls all, of launches into a full queue what is unusual.
Intervals BlockedTimes(const Trace& trace, const ProgramRows& program) {
  const SliceTable& slices = trace.slices;
  const int64_t usual = UsualLaunchNs(trace);
  const LoadingLaunches loading(trace, program);
  std::vector<uint8_t> waits(slices.size());
  for (size_t i = 0; i < trace.syncs.size(); ++i)
    if (trace.syncs.slice[i].valid() && trace.syncs.waited_gpu_op[i].valid()) waits[trace.syncs.slice[i].value] = 1;
  const GpuOpTable& ops = trace.gpu_ops;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const SliceId launch = ops.launch[op];
    if (!launch.valid()) continue;
    const int64_t start = slices.ts_ns[launch.value], dur = slices.dur_ns[launch.value];
    const int64_t end = ops.ts_ns[op] + ops.dur_ns[op];
    const bool feeds_it = ops.kind[op] == GpuOpKind::kMemcpy && dur > kStagingNs && ops.ts_ns[op] < start + dur;
    if (end > start && (end <= start + dur || feeds_it)) waits[launch.value] = 1;
  }
  Intervals blocked;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const int64_t start = slices.ts_ns[row], dur = slices.dur_ns[row];
    if (waits[row] != 0 && dur > kShortCallNs) blocked.push_back({start, start + dur});
    if (slices.api[row] == ApiKind::kKernelLaunch && dur > FullQueueNs(usual) && !loading.Has(row))
      blocked.push_back({start + usual, start + dur});
  }
  return Merge(std::move(blocked));
}

// Adds where a thread worked to `own`. Gaps too short to be a wait for another thread, and those in which no other
// thread worked, are its own: Python runs there. `anyones`: where some thread worked; in a gap of this one that is
// another.
void AddOwnWork(const Intervals& work, const Intervals& anyones, Interval window, Intervals& own) {
  int64_t until = window.start;
  for (size_t i = 0; i <= work.size(); ++i) {
    const Interval gap{until, i < work.size() ? work[i].start : window.end};
    if (gap.length() <= kThreadWaitNs || !IsSomeIn(anyones, gap)) own.push_back(gap);
    if (i == work.size()) break;
    own.push_back(work[i]);
    until = work[i].end;
  }
}

Intervals HostWork(const Trace& trace, const ProgramRows& program, Interval window) {
  const SliceTable& slices = trace.slices;
  std::map<uint32_t, Intervals> threads;  // where each did something
  for (uint32_t row = 0; row < slices.size(); ++row)
    if (program.slices[row] != 0 && IsWork(trace, row))
      AppendMerged(threads[slices.thread[row].value], {slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]});
  Intervals anyones, own;
  for (const auto& [row, work] : threads) anyones.insert(anyones.end(), work.begin(), work.end());
  anyones = Merge(std::move(anyones));
  for (const auto& [row, work] : threads) AddOwnWork(Clip(work, window), anyones, window, own);
  return Clip(Subtract(Merge(std::move(own)), BlockedTimes(trace, program)), window);
}

RecordedWork WorkIn(const Trace& trace, Interval window) {
  const ProgramRows program = FindProgram(trace);
  RecordedWork work;
  work.window_ns = window.length();
  Intervals anyones = HostWork(trace, program, window);
  work.host_ns = Total(anyones);
  const GpuOpTable& ops = trace.gpu_ops;
  Intervals device;
  std::map<std::pair<int32_t, int64_t>, Intervals> streams;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (program.ops[op] == OpRole::kWithinKernel) continue;
    const Interval span{ops.ts_ns[op], ops.ts_ns[op] + ops.dur_ns[op]};
    AppendMerged(device, span);
    AppendMerged(streams[{ops.device[op], ops.stream[op]}], span);
  }
  work.device_ns = TotalIn(device, window);
  const Intervals on_device = Clip(device, window);
  anyones.insert(anyones.end(), on_device.begin(), on_device.end());
  work.neither_ns = work.window_ns - Total(Merge(std::move(anyones)));
  for (const auto& [stream, spans] : streams)
    work.busiest_stream_ns = std::max(work.busiest_stream_ns, TotalIn(spans, window));
  return work;
}

std::vector<int64_t> Scaled(const Graph& graph, double kernels, double host) {
  std::vector<int64_t> edge_ns;
  edge_ns.reserve(graph.edges.size());
  for (const Edge& edge : graph.edges) {
    const double factor = IsDeviceTime(edge.kind)                                        ? kernels
                          : edge.kind == EdgeKind::kHost || edge.kind == EdgeKind::kCall ? host
                                                                                         : 1;
    edge_ns.push_back(std::llround(static_cast<double>(edge.ns) * factor));
  }
  return edge_ns;
}

// A replayed step against the recorded one.
SelfCheck Compare(std::optional<int64_t> recorded, std::optional<int64_t> replayed) {
  SelfCheck check;
  if (!recorded || !replayed) {
    check.refusal = "no step takes any time in it";
    return check;
  }
  check.recorded_step_ns = *recorded, check.replayed_step_ns = *replayed;
  check.error = static_cast<double>(*replayed) / static_cast<double>(*recorded) - 1;
  if (std::abs(check.error) > kMaxReplayError)
    check.refusal =
        StrCat("replaying the recording gives a step of ", FormatPercent(1 + check.error), " of what was recorded");
  return check;
}

}  // namespace

SelfCheck CheckReplay(const Trace& trace, const Graph& graph, const StepSpan& span, ThreadPool* pool) {
  const TimedPart timed("predict", "self-check");
  SelfCheck check = Compare(span.StepNs(graph.recorded_ns), span.StepNs(Replay(graph)));
  if (!check.accepted()) return check;
  struct Faster {
    std::string_view what;
    double kernels, host;
    int64_t step_ns;
  };
  Faster faster[] = {
      {"kernels twice as fast", 0.5, 1, 0}, {"kernels half as fast", 2, 1, 0}, {"the host twice as fast", 1, 0.5, 0}};
  RecordedWork work;
  ForEach(pool, std::size(faster) + 1, [&](size_t i) {
    if (i == 0)
      work = WorkIn(trace, AnalysedWindow(trace).span);
    else
      faster[i - 1].step_ns =
          span.StepNs(Replay(graph, Scaled(graph, faster[i - 1].kernels, faster[i - 1].host))).value_or(0);
  });
  const auto share = [&](int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(std::max<int64_t>(1, work.window_ns));
  };
  const double host = share(work.host_ns), device = share(work.device_ns), stream = share(work.busiest_stream_ns);
  const auto respond = [&](const Faster& faster, double low, double high) {
    check.responses.push_back(
        {.what = faster.what,
         .share = static_cast<double>(faster.step_ns) / static_cast<double>(check.replayed_step_ns),
         .low = low - kBandShare,
         .high = high + kBandShare});
  };
  // Between a call and its operation, and between that and the return of who waits for it, neither works.
  const double latency =
      static_cast<double>(graph.facts.blocking_calls * (graph.facts.launch_ns + kReturnNs)) /
      static_cast<double>(std::max<int64_t>(1, graph.recorded_ns.back() - graph.recorded_ns.front()));
  const double neither = std::max(latency, share(work.neither_ns));
  respond(faster[0], 1 - device / 2, std::min(1.0, (1 + host + neither) / 2));
  respond(faster[1], std::max(1.0, 2 * stream), 1 + device);
  respond(faster[2], std::max(1 - host / 2, stream), std::min(1.0, (1 + device + neither) / 2));
  for (const Response& response : check.responses)
    if (!response.IsSound() && check.refusal.empty())
      check.refusal = StrCat("with ", response.what, " the replay gives ", FormatPercent(response.share),
                             " of the step, and what was recorded allows ", FormatPercent(response.low), " to ",
                             FormatPercent(response.high));
  return check;
}

SelfCheck CheckJob(const Job& job, ThreadPool* pool) {
  const size_t count = job.ranks.size();
  std::vector<SelfCheck> checks(count);
  const auto check = [&](size_t i, ThreadPool* inner) {
    const RankGraph& rank = job.ranks[i];
    checks[i] = CheckReplay(*rank.of->trace, rank.graph, rank.span, inner);
  };
  if (count == 1) check(0, pool);
  if (count < 2) return count == 0 ? SelfCheck() : checks[0];
  ForEach(pool, count, [&](size_t i) { check(i, nullptr); });
  std::vector<std::vector<int64_t>> recorded;
  for (size_t i = 0; i < count; ++i) {
    const RankGraph& rank = job.ranks[i];
    if (!checks[i].accepted()) {
      checks[0].refusal =
          StrCat("rank ", rank.of->rank() == kAbsent ? "?" : std::to_string(rank.of->rank()), ": ", checks[i].refusal);
      return checks[0];
    }
    recorded.push_back(rank.graph.recorded_ns);
  }
  SelfCheck together = Compare(StepNs(job, recorded), StepNs(job, ReplayJob(job)));
  if (!together.accepted()) together.refusal = StrCat("all ranks together: ", together.refusal);
  together.responses = std::move(checks[0].responses);
  return together;
}

}  // namespace gapless::internal
