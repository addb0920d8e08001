// SPDX-License-Identifier: Apache-2.0
// Finds the telemetry beside a recording, and takes the median number of processors in use during it, by
// the job and by other programs. What others keep busy is not there for the job: a prediction is for the machine as it
// was recorded.
#include "predict/host_use.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "trace/processors.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinSamples = 3;
constexpr double kNoticedOthers = 0.25;  // processors; daemons use less

struct TimeSpan {
  int64_t start_ns = 0, end_ns = 0;
};

// Returns the median of a counter in the window.
std::optional<double> MedianOf(const RunTrace& telemetry, std::string_view counter, TimeSpan window) {
  const Trace& trace = *telemetry.trace;
  std::vector<double> samples;
  for (size_t row = 0; row < trace.counters.size(); ++row) {
    const int64_t at = trace.counters.ts_ns[row] + telemetry.ts_shift_ns;
    if (at >= window.start_ns && at <= window.end_ns && trace.Text(trace.counters.name[row]) == counter)
      samples.push_back(trace.counters.value[row]);
  }
  if (samples.size() < kMinSamples) return std::nullopt;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// Takes what the telemetry says of the window, unless that is known: processors in use by the job, and by others.
void TakeBusy(const RunTrace& telemetry, TimeSpan window, HostUse& use) {
  if (use.busy) return;
  use.busy = MedianOf(telemetry, "process.cpu", window);
  const auto machine = MedianOf(telemetry, "host.cpu.busy", window);
  if (!use.busy || !machine || !use.processors) return;
  const double others = *machine * *use.processors - *use.busy;
  if (others < kNoticedOthers) return;
  use.others = others;
  use.processors = std::max(*use.processors - others, *use.busy);
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
    TakeBusy(*other.of, {start, end}, use);
    TakeBusy(*other.of, {start - kAround / 10, end + kAround}, use);
  }
  return use;
}

}  // namespace gapless::internal
