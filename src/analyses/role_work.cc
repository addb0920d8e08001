// SPDX-License-Identifier: Apache-2.0
// Cuts recorded time into stretches of one kind, and reads and writes them as a section of a summary.
#include "analyses/role_work.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/analysis.h"
#include "trace/summary.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kSection = "role_work";
constexpr std::string_view kWorkColumns[] = {"compute_ns", "exposed_comm_ns", "exposed_copy_ns"};
constexpr std::string_view kIdleTimeColumns[kIdleCauses] = {"idle_data_ns", "idle_launch_ns", "idle_sync_ns",
                                                            "idle_host_ns", "idle_unknown_ns"};
constexpr size_t kUnknownCause = static_cast<size_t>(IdleCause::kUnknown);

Intervals OperatorsOf(const Trace& trace) {
  Intervals working;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (trace.slices.category[row] == SliceCategory::kOperator)
      working.push_back({trace.slices.ts_ns[row], trace.slices.ts_ns[row] + trace.slices.dur_ns[row]});
  return Merge(std::move(working));
}

WorkStretch Working(Interval span, size_t kind) {
  WorkStretch stretch{.span = span};
  stretch.work[kind] = span.length();
  return stretch;
}

WorkStretch Idling(Interval span, size_t cause) {
  WorkStretch stretch{.span = span};
  stretch.idle[cause] = span.length();
  return stretch;
}

std::vector<WorkStretch> StretchesOf(const DeviceTimeline& device, Interval span) {
  std::vector<WorkStretch> stretches;
  const Intervals* kinds[] = {&device.compute, &device.exposed_communication, &device.exposed_copies};
  for (size_t kind = 0; kind < std::size(kinds); ++kind)
    for (const Interval& one : Clip(*kinds[kind], span)) stretches.push_back(Working(one, kind));
  for (const IdleGap& gap : device.gaps)
    for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part)
      if (const Interval idle{device.parts[part].start, device.PartEnd(gap, part)}; idle.length() > 0)
        stretches.push_back(Idling(idle, static_cast<size_t>(device.parts[part].cause)));
  std::ranges::sort(stretches, {}, [](const WorkStretch& stretch) { return stretch.span.start; });
  return stretches;
}

RecordedWork OfDevices(const RunTrace& of) {
  const GpuOpTable& ops = of.trace->gpu_ops;
  RecordedWork work{.span = {ops.ts_ns[0], ops.ts_ns[0]}};
  for (size_t row = 0; row < ops.size(); ++row)
    work.span.end = std::max(work.span.end, ops.ts_ns[row] + ops.dur_ns[row]);
  Window window;
  window.span = window.host = work.span;
  const TraceTimeline timeline = MakeTimeline(
      of, [&] { return window; }, false);
  for (const DeviceTimeline& device : timeline.devices)
    work.devices.push_back({device.device, StretchesOf(device, work.span)});
  return work;
}

RecordedWork OfProcess(const Trace& trace) {
  const Intervals operators = OperatorsOf(trace);
  RecordedWork work;
  if (operators.empty()) return work;
  work.span = {operators.front().start, operators.back().end};
  DeviceStretches& process = work.devices.emplace_back();
  int64_t end = work.span.start;
  for (const Interval& one : operators) {
    if (one.start > end) process.stretches.push_back(Idling({end, one.start}, kUnknownCause));
    process.stretches.push_back(Working(one, 0));
    end = one.end;
  }
  return work;
}

RecordedWork OfSummary(const Trace& light) {
  RecordedWork work;
  const auto sections = ReadSummaryTables(light);
  const SectionReader::Section* section = sections ? sections->Find(kSection) : nullptr;
  if (section == nullptr || section->rows() == 0) return work;
  const auto devices = section->Ints("device"), starts = section->Ints("start_ns"), lengths = section->Ints("dur_ns");
  std::vector<std::vector<int64_t>> kinds, causes;
  for (const std::string_view name : kWorkColumns) kinds.push_back(section->Ints(name));
  for (const std::string_view name : kIdleTimeColumns) causes.push_back(section->Ints(name));
  work.span = {starts[0], starts[0]};
  for (size_t row = 0; row < section->rows(); ++row) {
    const int32_t device = devices[row] == kAbsent ? kAbsent32 : static_cast<int32_t>(devices[row]);
    if (work.devices.empty() || work.devices.back().device != device) work.devices.push_back({device, {}});
    std::vector<WorkStretch>& stretches = work.devices.back().stretches;
    WorkStretch stretch{.span = {starts[row], starts[row] + lengths[row]}};
    for (size_t kind = 0; kind < kinds.size(); ++kind) stretch.work[kind] = std::max<int64_t>(0, kinds[kind][row]);
    for (size_t cause = 0; cause < kIdleCauses; ++cause) stretch.idle[cause] = std::max<int64_t>(0, causes[cause][row]);
    // Somebody may have made the file: what does not follow each other is not taken.
    if (lengths[row] <= 0 || (!stretches.empty() && stretch.span.start < stretches.back().span.end)) return {};
    work.span = {std::min(work.span.start, stretch.span.start), std::max(work.span.end, stretch.span.end)};
    stretches.push_back(stretch);
  }
  return work;
}

// A part of a stretch, as long as `part`, of the same kinds in the same shares.
WorkStretch PartOf(const WorkStretch& whole, Interval part) {
  WorkStretch taken{.span = part};
  const double share = static_cast<double>(part.length()) / static_cast<double>(whole.span.length());
  int64_t sum = 0;
  int64_t* largest = nullptr;
  const auto take = [&](int64_t of, int64_t& to) {
    to = std::llround(static_cast<double>(of) * share), sum += to;
    if (largest == nullptr || to > *largest) largest = &to;
  };
  for (size_t kind = 0; kind < taken.work.size(); ++kind) take(whole.work[kind], taken.work[kind]);
  for (size_t cause = 0; cause < kIdleCauses; ++cause) take(whole.idle[cause], taken.idle[cause]);
  *largest += part.length() - sum;
  return taken;
}

void Join(const WorkStretch& next, WorkStretch& into) {
  into.span.end = next.span.end;
  for (size_t kind = 0; kind < into.work.size(); ++kind) into.work[kind] += next.work[kind];
  for (size_t cause = 0; cause < kIdleCauses; ++cause) into.idle[cause] += next.idle[cause];
}

// Stretches with each pause in one, whatever its causes.
std::vector<WorkStretch> WithWholePauses(const std::vector<WorkStretch>& all) {
  std::vector<WorkStretch> joined;
  for (const WorkStretch& stretch : all)
    if (!joined.empty() && joined.back().busy() == 0 && stretch.busy() == 0)
      Join(stretch, joined.back());
    else
      joined.push_back(stretch);
  return joined;
}

std::vector<WorkStretch> Bridged(const std::vector<WorkStretch>& all, int64_t least) {
  std::vector<WorkStretch> joined;
  bool ends_with_pause = true;
  for (const WorkStretch& stretch : all) {
    const bool is_pause = stretch.busy() == 0 && stretch.span.length() >= least;
    if (is_pause || ends_with_pause)
      joined.push_back(stretch);
    else
      Join(stretch, joined.back());
    ends_with_pause = is_pause;
  }
  return joined;
}

}  // namespace

RecordedWork WorkOfRecording(const RunTrace& of) {
  if (of.trace->summary) return OfSummary(*of.trace);
  return of.trace->gpu_ops.size() > 0 ? OfDevices(of) : OfProcess(*of.trace);
}

std::vector<WorkStretch> StretchesIn(const std::vector<WorkStretch>& all, Interval window) {
  std::vector<WorkStretch> taken;
  int64_t end = window.start;
  for (const WorkStretch& stretch : all) {
    const Interval part{std::max(stretch.span.start, window.start), std::min(stretch.span.end, window.end)};
    if (part.length() <= 0) continue;
    if (part.start > end) taken.push_back(Idling({end, part.start}, kUnknownCause));
    taken.push_back(part == stretch.span ? stretch : PartOf(stretch, part));
    end = part.end;
  }
  if (window.end > end) taken.push_back(Idling({end, window.end}, kUnknownCause));
  return taken;
}

void Shift(std::vector<WorkStretch>& stretches, int64_t shift_ns) {
  for (WorkStretch& stretch : stretches) stretch.span.start += shift_ns, stretch.span.end += shift_ns;
}

void Coarsen(std::vector<WorkStretch>& stretches, size_t most) {
  if (stretches.size() <= most) return;
  const std::vector<WorkStretch> all = WithWholePauses(stretches);
  constexpr int64_t kFirstLength = 64'000;
  int64_t least = kFirstLength;
  for (stretches = all; stretches.size() > most && least < kLeastRoleWaitNs; least *= 2)
    stretches = Bridged(all, least);
  if (stretches.size() > most) stretches = Bridged(all, kLeastRoleWaitNs);
}

void WriteWork(const RecordedWork& work, SectionWriter& to) {
  std::vector<int64_t> devices, starts, lengths;
  std::vector<std::vector<int64_t>> kinds(std::size(kWorkColumns)), causes(kIdleCauses);
  const auto shown = [](int64_t ns) { return ns == 0 ? kAbsent : ns; };
  for (const DeviceStretches& device : work.devices)
    for (const WorkStretch& stretch : device.stretches) {
      devices.push_back(device.device == kAbsent32 ? kAbsent : device.device);
      starts.push_back(stretch.span.start), lengths.push_back(stretch.span.length());
      for (size_t kind = 0; kind < kinds.size(); ++kind) kinds[kind].push_back(shown(stretch.work[kind]));
      for (size_t cause = 0; cause < kIdleCauses; ++cause) causes[cause].push_back(shown(stretch.idle[cause]));
    }
  to.Begin(kSection, devices.size());
  to.Ints("device", devices), to.Ints("start_ns", starts), to.Ints("dur_ns", lengths);
  for (size_t kind = 0; kind < kinds.size(); ++kind) to.Ints(kWorkColumns[kind], kinds[kind]);
  for (size_t cause = 0; cause < kIdleCauses; ++cause) to.Ints(kIdleTimeColumns[cause], causes[cause]);
}

}  // namespace gapless::internal
