// SPDX-License-Identifier: Apache-2.0
// In which call of the operating system the launching thread was while a device idled, and when it was on no processor.
//
// The thread is the one that launched the operation which ended the idle interval: until it came to that, the device
// had nothing to do. Of calls inside one another the outermost counts. A thread is off its processors between two times
// on one; before the first and after the last nothing is known of it. Stretches without a call count only where the
// thread was off. O(gaps · log(calls) + overlaps).
#include "analyses/rows/os_waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/timeline.h"

namespace gapless::internal::os_waits_analysis {
namespace {

struct SystemCall {
  Interval span;
  StringId name = StringId::kNone;
};

// A ThreadRecord is what the system did with one thread.
struct ThreadRecord {
  std::vector<SystemCall> calls{};  // in order, none inside another
  Intervals off{};                  // between two times on a processor
  int64_t last_run_end = kAbsent;
};
using Threads = std::map<std::pair<int64_t, int64_t>, ThreadRecord>;  // by process and thread

Threads ThreadsOf(const Trace& trace) {
  Threads threads;
  const OsCallTable& calls = trace.os_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    auto& known = threads[{calls.pid[row], calls.tid[row]}].calls;
    const Interval span{calls.ts_ns[row], calls.ts_ns[row] + calls.dur_ns[row]};
    if (known.empty() || span.start >= known.back().span.end) known.push_back({span, calls.name[row]});
  }
  const ThreadRunTable& runs = trace.thread_runs;
  for (size_t row = 0; row < runs.size(); ++row) {
    ThreadRecord& thread = threads[{runs.pid[row], runs.tid[row]}];
    if (thread.last_run_end != kAbsent) AppendMerged(thread.off, {thread.last_run_end, runs.ts_ns[row]});
    thread.last_run_end = std::max(thread.last_run_end, runs.ts_ns[row] + runs.dur_ns[row]);
  }
  return threads;
}

struct Sum {
  int64_t parts = 0, idle_ns = 0, longest_ns = 0, host_ns = 0, off_ns = 0, host_off_ns = 0;
  bool scheduled = false;
};

// The sums of one device, by step, thread and call.
class DeviceWaits {
 public:
  DeviceWaits(const TraceTimeline& timeline, const DeviceTimeline& device, const Threads& threads)
      : timeline_(timeline), trace_(timeline.trace()), device_(device), threads_(threads) {}

  void Take(const IdleGap& gap) {
    const SliceId launch = gap.next.valid() ? trace_.gpu_ops.launch[gap.next.value] : SliceId();
    if (!launch.valid()) return;
    const size_t thread = trace_.slices.thread[launch.value].value;
    const auto found = threads_.find({trace_.threads.pid[thread], trace_.threads.tid[thread]});
    if (found == threads_.end()) return;
    host_ = HostPartsOf(gap);
    const Key key{StepOf(gap.span.start), found->first.second, StringId::kNone};
    Intervals rest{gap.span};
    const ThreadRecord& record = found->second;
    auto call =
        std::ranges::upper_bound(record.calls, gap.span.start, {}, [](const SystemCall& c) { return c.span.end; });
    for (; call != record.calls.end() && call->span.start < gap.span.end; ++call) {
      const Interval part{std::max(call->span.start, gap.span.start), std::min(call->span.end, gap.span.end)};
      Add({std::get<0>(key), std::get<1>(key), call->name}, part, record);
      rest = Subtract(rest, {part});
    }
    for (const Interval& part : Intersect(rest, Clip(record.off, gap.span))) Add(key, part, record);
  }

  void Write(TableOf<OsWaitsRows>& table) const {
    for (const auto& [key, sum] : sums_) {
      auto row = table.Row(*timeline_.of);
      row.Set("device", device_.device).Set("step", std::get<0>(key)).Set("tid", std::get<1>(key));
      if (std::get<2>(key) != StringId::kNone) row.Set("call", trace_.Text(std::get<2>(key)));
      row.Set("parts", sum.parts).Set("idle_ns", sum.idle_ns).Set("longest_ns", sum.longest_ns);
      row.Set("host_ns", sum.host_ns).Set("off_cpu_ns", sum.scheduled ? sum.off_ns : kAbsent);
      row.Set("host_off_cpu_ns", sum.scheduled ? sum.host_off_ns : kAbsent);
    }
  }

 private:
  using Key = std::tuple<int64_t, int64_t, StringId>;  // step, thread, call

  void Add(const Key& key, Interval part, const ThreadRecord& record) {
    if (part.length() <= 0) return;
    Sum& sum = sums_[key];
    ++sum.parts, sum.idle_ns += part.length(), sum.longest_ns = std::max(sum.longest_ns, part.length());
    sum.host_ns += TotalIn(host_, part), sum.off_ns += TotalIn(record.off, part);
    sum.host_off_ns += TotalIn(Intersect(Clip(host_, part), Clip(record.off, part)), part);
    sum.scheduled = sum.scheduled || record.last_run_end != kAbsent;
  }

  Intervals HostPartsOf(const IdleGap& gap) const {
    Intervals host;
    for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part)
      if (device_.parts[part].cause == IdleCause::kHost)
        AppendMerged(host, {device_.parts[part].start, device_.PartEnd(gap, part)});
    return host;
  }

  int64_t StepOf(int64_t ts) const {
    const auto& steps = timeline_.window.steps;
    const auto at = std::ranges::upper_bound(steps, ts, {}, [](const StepWindow& step) { return step.span.end; });
    return at != steps.end() && at->span.start <= ts ? trace_.steps.number[at->step.value] : kAbsent;
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  const DeviceTimeline& device_;
  const Threads& threads_;
  Intervals host_{};
  std::map<Key, Sum> sums_{};
};

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<OsWaitsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    if (timeline.trace().os_calls.size() == 0 && timeline.trace().thread_runs.size() == 0) continue;
    const Threads threads = ThreadsOf(timeline.trace());
    for (const DeviceTimeline& device : timeline.devices) {
      DeviceWaits waits(timeline, device, threads);
      for (const IdleGap& gap : device.gaps) waits.Take(gap);
      waits.Write(table);
    }
  }
  return table;
}

}  // namespace

ANALYSIS(os_waits) = AnalysisOf<OsWaitsRows>({.run = Compute});

}  // namespace gapless::internal::os_waits_analysis
