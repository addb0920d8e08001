// SPDX-License-Identifier: Apache-2.0
#include "predict/host_use.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace gapless::internal {
namespace {

constexpr size_t kLeastSamples = 3;

std::optional<double> ProcessorsOf(const Trace& trace) {
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    if (trace.Text(trace.environment.key[row]) != "host.cpu.count") continue;
    const std::string_view text = trace.Text(trace.environment.value[row]);
    double count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && count >= 1) return count;
  }
  return std::nullopt;
}

// Processors in use by the processes of the job, from half of `window` before it on: what came earlier is start-up.
std::optional<double> BusyDuring(const RunTrace& telemetry, int64_t start_ns, int64_t end_ns) {
  const Trace& trace = *telemetry.trace;
  std::vector<double> samples;
  for (size_t row = 0; row < trace.counters.size(); ++row) {
    const int64_t at = trace.counters.ts_ns[row] + telemetry.ts_shift_ns;
    if (at >= start_ns && at <= end_ns && trace.Text(trace.counters.name[row]) == "process.cpu")
      samples.push_back(trace.counters.value[row]);
  }
  if (samples.size() < kLeastSamples) return std::nullopt;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

HostUse FindHostUse(const Run& run, const RunTrace& of) {
  HostUse use;
  constexpr int64_t kAround = 2'000'000'000;  // a recording is short, telemetry slow
  const int64_t start = of.ts_shift_ns, end = of.ts_shift_ns + of.trace->info.dur_ns;
  for (const RunTrace& other : run.traces()) {
    if (other.execution != of.execution) continue;
    if (!use.processors) use.processors = ProcessorsOf(*other.trace);
    if (!use.busy) use.busy = BusyDuring(other, start, end);
    if (!use.busy) use.busy = BusyDuring(other, start - kAround / 10, end + kAround);
  }
  return use;
}

}  // namespace gapless::internal
