// SPDX-License-Identifier: Apache-2.0
// Finds the telemetry beside a recording, and takes the median number of processors in use during it.
#include "predict/host_use.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/order_statistics.h"
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

}  // namespace gapless::internal
