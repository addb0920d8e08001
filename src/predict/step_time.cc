// SPDX-License-Identifier: Apache-2.0
// The host runs ahead of the device. A span of steps therefore begins when its first step has begun on the host and the
// device is done with what was launched before, and ends when the last step is over on the host and the device is done
// with what was launched in it (analyses/window.h says the same of what was recorded).
#include "predict/step_time.h"

#include <algorithm>

namespace gapless::internal {
namespace {

constexpr int64_t kUnexplainedNs = 1'000'000;  // unexplained GPU time before a span, in ns

int64_t Latest(std::span<const int64_t> times, const std::vector<Instant>& instants) {
  int64_t latest = 0;
  for (const Instant instant : instants) latest = std::max(latest, times[instant]);
  return latest;
}

}  // namespace

StepSpan::StepSpan(const Trace& trace, const Graph& graph) {
  const Window window = AnalysedWindow(trace);
  steps_ = std::max<size_t>(1, window.steps.size());
  const Interval host = window.steps.empty() && window.span.length() > 0 ? window.span : window.host;
  Instant first = kNoInstant, last = kNoInstant;  // first and last host instant within the span
  for (uint32_t row = 0; row < graph.slice_begin.size(); ++row) {
    const Instant begin = graph.slice_begin[row], end = graph.slice_end[row];
    if (begin == kNoInstant || trace.slices.ts_ns[row] < host.start || trace.slices.ts_ns[row] >= host.end) continue;
    first = std::min(first, begin);
    if (graph.recorded_ns[end] <= host.end && (last == kNoInstant || end > last)) last = end;
  }
  if (first != kNoInstant) starts_.push_back(first);
  if (last != kNoInstant) ends_.push_back(last);
  const GpuOpTable& ops = trace.gpu_ops;
  Instant first_op = kNoInstant;  // first GPU operation of the span, if launched before the span
  for (uint32_t op = 0; op < graph.op_end.size(); ++op) {
    const SliceId launch = ops.launch[op];
    const int64_t launched = launch.valid() ? trace.slices.ts_ns[launch.value] : ops.ts_ns[op];
    if (graph.op_end[op] == kNoInstant || launched >= host.end) continue;
    const bool is_before = launched < host.start && ops.ts_ns[op] < window.span.start;
    (is_before ? starts_ : ends_).push_back(graph.op_end[op]);
    if (!is_before && ops.ts_ns[op] >= window.span.start) first_op = std::min(first_op, graph.op_begin[op]);
  }
  // The span begins on the device if no host was recorded, or if the device was busy with what was not.
  if (first_op != kNoInstant &&
      window.span.start - Latest(graph.recorded_ns, starts_) > (starts_.empty() ? -1 : kUnexplainedNs))
    starts_.push_back(first_op);
}

std::pair<int64_t, Instant> StepSpan::Within(std::span<const int64_t> times) const {
  Instant last = kNoInstant;
  for (const Instant instant : ends_)
    if (last == kNoInstant || times[instant] > times[last]) last = instant;
  return {Latest(times, starts_), last};
}

std::optional<int64_t> StepSpan::StepNs(std::span<const int64_t> times) const {
  if (ends_.empty()) return std::nullopt;
  const int64_t span = Latest(times, ends_) - Latest(times, starts_);
  return span > 0 ? std::optional(span / static_cast<int64_t>(steps_)) : std::nullopt;
}

}  // namespace gapless::internal
