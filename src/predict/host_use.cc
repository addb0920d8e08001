// SPDX-License-Identifier: Apache-2.0
// Finds the telemetry beside a recording and takes the median number of processors in use during it; sums up the own
// time of host operators in the steps.
#include "predict/host_use.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/work_type.h"
#include "base/order_statistics.h"
#include "predict/program.h"
#include "trace/processors.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinSamples = 3;

// Processors in use by the processes of the job, from half of `window` before it on: what came earlier is start-up.
std::optional<double> BusyDuring(const RunTrace& telemetry, int64_t start_ns, int64_t end_ns) {
  const Trace& trace = *telemetry.trace;
  std::vector<double> samples;
  for (size_t row = 0; row < trace.counters.size(); ++row) {
    const int64_t at = trace.counters.ts_ns[row] + telemetry.ts_shift_ns;
    if (at >= start_ns && at <= end_ns && trace.Text(trace.counters.name[row]) == "process.cpu")
      samples.push_back(trace.counters.value[row]);
  }
  if (samples.size() < kMinSamples) return std::nullopt;
  return UpperMedian(samples);
}

// A recording that says something of its machine.
struct DescribedUse {
  const RunTrace* of = nullptr;
  std::optional<int64_t> processors{};
};

// Returns the few recordings with counters or processors, so that a rank need not look at all others.
std::vector<DescribedUse> FindDescribed(Tables& tables) {
  std::vector<DescribedUse> described;
  for (const RunTrace& of : tables.run().traces())
    if (const auto processors = ProcessorsOf(*of.trace); processors || of.trace->counters.size() > 0)
      described.push_back({.of = &of, .processors = processors});
  return described;
}

}  // namespace

HostUse FindHostUse(Tables& tables, const RunTrace& of) {
  HostUse use;
  constexpr int64_t kAround = 2'000'000'000;  // a recording is short, telemetry slow
  const int64_t start = of.ts_shift_ns, end = of.ts_shift_ns + of.trace->info.dur_ns;
  for (const DescribedUse& other : tables.OnceForRun(FindDescribed)) {
    if (other.of->execution != of.execution) continue;
    if (!use.processors && other.processors) use.processors = static_cast<double>(*other.processors);
    if (!use.busy) use.busy = BusyDuring(*other.of, start, end);
    if (!use.busy) use.busy = BusyDuring(*other.of, start - kAround / 10, end + kAround);
  }
  return use;
}

// Sums host operators by size and waits for batches over the complete steps of a recording.
//
// Only the time of an operator itself counts, without the operators that it calls. An operator is large if the
// median of its kind takes at least kMinSplitNs: those can be split over threads with a gain. Shares of several
// ranks are sums over all of them, so they are means weighted by time. Cost is O(n log k) for n operators of k
// kinds.

namespace {

struct Sums {
  double steps_ns = 0, waited_ns = 0;  // sums over steps whose waits are known
  // Sums over recorded steps with operators.
  double recorded_ns = 0, small_ns = 0, large_ns = 0, images_ns = 0;
};

// Adds the waits that the agent measured; a wait is at most its step.
void AddWaits(const StepTable& steps, Sums& sums) {
  for (size_t row = 0; row < steps.size(); ++row) {
    if (steps.wait_ns[row] == kAbsent || steps.dur_ns[row] <= 0) continue;
    sums.steps_ns += static_cast<double>(steps.dur_ns[row]);
    sums.waited_ns += static_cast<double>(std::min(steps.wait_ns[row], steps.dur_ns[row]));
  }
}

bool IsOfImages(std::string_view name) {
  const WorkType type = WorkTypeOfOperator(name);
  return type == WorkType::kConv || type == WorkType::kPooling || name.find("batch_norm") != name.npos;
}

// Operators of one name and shape are large or small together, by their median: a small one that other work on the
// processor has interrupted is no larger for that.
void AddOperators(const Trace& trace, Sums& sums) {
  if (trace.gpu_ops.size() > 0 || trace.steps.size() == 0) return;
  int64_t first_ns = trace.steps.ts_ns[0], last_ns = first_ns;
  for (size_t row = 0; row < trace.steps.size(); ++row)
    last_ns = std::max(last_ns, trace.steps.ts_ns[row] + trace.steps.dur_ns[row]);
  const std::vector<int64_t> own_ns = OwnTimes(trace);
  std::map<std::pair<StringId, StringId>, std::vector<int64_t>> kinds;
  for (uint32_t row = 0; row < trace.slices.size(); ++row) {
    const int64_t ts_ns = trace.slices.ts_ns[row];
    if (ts_ns >= first_ns && ts_ns < last_ns && IsOwnWork(trace, row))
      kinds[{trace.slices.name[row], trace.slices.input_shapes[row]}].push_back(own_ns[row]);
  }
  double small_ns = 0, large_ns = 0, images_ns = 0;
  for (auto& [kind, times_ns] : kinds) {
    const double sum_ns = std::accumulate(times_ns.begin(), times_ns.end(), 0.0);
    (UpperMedian(times_ns) >= kMinSplitNs ? large_ns : small_ns) += sum_ns;
    if (IsOfImages(trace.Text(kind.first))) images_ns += sum_ns;
  }
  if (small_ns + large_ns <= 0) return;
  sums.recorded_ns += static_cast<double>(last_ns - first_ns);
  sums.small_ns += small_ns, sums.large_ns += large_ns, sums.images_ns += images_ns;
}

}  // namespace

HostShares HostSharesOf(const Run& run) {
  Sums sums;
  for (const RunTrace& trace : run.traces()) {
    AddWaits(trace.trace->steps, sums);
    AddOperators(*trace.trace, sums);
  }
  HostShares shares;
  if (sums.steps_ns > 0) shares.loader_wait = sums.waited_ns / sums.steps_ns;
  if (sums.recorded_ns > 0) {
    shares.small_operators = std::min(1.0, sums.small_ns / sums.recorded_ns);
    shares.large_operators = std::min(1.0, sums.large_ns / sums.recorded_ns);
    shares.image_layers = std::min(1.0, sums.images_ns / sums.recorded_ns);
  }
  return shares;
}

}  // namespace gapless::internal
