// SPDX-License-Identifier: Apache-2.0
// Totals of a recording, by which rules judge the recording itself: too little, only a start, cut off.
#include "analyses/rows/recorded.h"

#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/one_offs.h"
#include "trace/enums.h"

namespace gapless::internal::recorded_analysis {
namespace {

// Ours: where nothing repeats, a device that works for less of the time shows a start.
constexpr double kStartBusyShare = 0.10;
// Ours: so few operations of the device, or as many different kernels, repeat nothing.
constexpr int64_t kFewOperations = 64;
constexpr int64_t kStartNs = 5'000'000;  // one-offs as long as this together are a start
constexpr int64_t kRarely = 3;
constexpr int64_t kOften = 8;  // as often as no start does all that it does

// Does the device hardly work, on operations of which few come again, and is there a one-off of some length?
bool OnlyStarts(const TraceTimeline& timeline, int64_t busy_ns) {
  const Trace& trace = timeline.trace();
  if (timeline.window.steps.size() > 2) return false;
  const auto window_ns = static_cast<double>(timeline.window.span.length());
  if (static_cast<double>(busy_ns) >= kStartBusyShare * window_ns) return false;
  int64_t one_offs_ns = 0;
  for (const OneOff& one_off : timeline.window.one_offs) one_offs_ns += one_off.span.length();
  if (one_offs_ns < kStartNs) return false;
  std::map<StringId, int64_t> times;
  for (const StringId name : trace.gpu_ops.name) ++times[name];
  const auto operations = static_cast<int64_t>(trace.gpu_ops.size());
  int64_t rare = 0, often = 0;
  for (const auto& [name, count] : times) rare += count <= kRarely ? count : 0, often += count >= kOften ? count : 0;
  return operations <= kFewOperations ? often < operations : 2 * rare >= operations;
}

// Returns true for operators that only exist for a GPU, and for the ranges of its communication library. A recurrent
// layer asks `cudnn_is_acceptable` on a CPU, too.
bool NeedsDevice(std::string_view name) {
  if (name == "aten::cudnn_is_acceptable") return false;
  return name.starts_with("nccl:") || name.starts_with("aten::cudnn_") || name.starts_with("aten::_cudnn_") ||
         name.starts_with("aten::miopen_");
}

struct Calls {
  int64_t launches = 0, done = 0;
  std::string_view device_operator{};
};

Calls CallsOf(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  Calls calls;
  std::vector<uint8_t> has_work(slices.size());
  std::vector<uint8_t> judged(trace.strings.size());
  for (const SliceId launch : trace.gpu_ops.launch)
    if (launch.valid()) has_work[launch.value] = 1;
  for (size_t row = 0; row < slices.size(); ++row) {
    if (uint8_t& done = judged[static_cast<uint32_t>(slices.name[row])]; calls.device_operator.empty() && done == 0) {
      done = 1;
      if (const std::string_view name = trace.Text(slices.name[row]); NeedsDevice(name)) calls.device_operator = name;
    }
    if (!IsLaunch(slices.api[row])) continue;
    ++calls.launches, calls.done += has_work[row];
  }
  return calls;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RecordedRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Trace& trace = timeline.trace();
    if (trace.slices.size() + trace.gpu_ops.size() == 0) continue;
    const int64_t busy_ns = DeviceWorkNs(trace);
    const Calls calls = CallsOf(trace);
    auto row = table.Row(*timeline.of);
    row.Set("devices", timeline.devices.size()).Set("events", trace.slices.size() + trace.gpu_ops.size());
    row.Set("gpu_operations", trace.gpu_ops.size()).Set("busy_ns", busy_ns).Set("recorded_ns", trace.info.dur_ns);
    row.Set("window_ns", timeline.window.span.length()).Set("one_off_idle_ns", timeline.window.one_off_idle_ns);
    row.Set("cold_start", timeline.window.IsColdStart() ? 1 : 0);
    row.Set("only_starts", OnlyStarts(timeline, busy_ns) ? 1 : 0);
    row.Set("launches", calls.launches).Set("launches_done", calls.done);
    row.Set("device_operator", calls.device_operator);
  }
  return table;
}

}  // namespace

ANALYSIS(recorded) = AnalysisOf<RecordedRows>({.run = Compute});

}  // namespace gapless::internal::recorded_analysis
