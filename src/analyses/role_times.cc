// SPDX-License-Identifier: Apache-2.0
#include "analyses/role_times.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analyses/analysis.h"
#include "trace/workload.h"

namespace gapless::internal {
namespace {

// A process that trains beside others that have a role has one, too, though nobody names it.
constexpr std::string_view kUnsaidTrainer = "trainer", kUnsaidOther = "other";

std::string_view NameOf(const RunTrace& of) {
  if (!of.job_role.empty()) return of.job_role;
  return PartOf(*of.trace) == JobPart::kTrains ? kUnsaidTrainer : kUnsaidOther;
}

Intervals Operators(const Trace& trace) {
  Intervals working;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (trace.slices.category[row] == SliceCategory::kOperator)
      working.push_back({trace.slices.ts_ns[row], trace.slices.ts_ns[row] + trace.slices.dur_ns[row]});
  return Merge(std::move(working));
}

Interval Shifted(Interval span, int64_t shift_ns) { return {span.start + shift_ns, span.end + shift_ns}; }

Intervals Shifted(Intervals all, int64_t shift_ns) {
  for (Interval& span : all) span = Shifted(span, shift_ns);
  return all;
}

// From the first to the last work of a recording, in the run's time.
Interval RecordedSpan(const RunTrace& of) {
  const GpuOpTable& ops = of.trace->gpu_ops;
  Interval span{0, 0};
  for (size_t row = 0; row < ops.size(); ++row) {
    if (row == 0) span.start = ops.ts_ns[0];
    span.end = std::max(span.end, ops.ts_ns[row] + ops.dur_ns[row]);
  }
  if (ops.size() == 0)
    if (const Intervals work = Operators(*of.trace); !work.empty()) span = {work.front().start, work.back().end};
  return Shifted(span, of.ts_shift_ns);
}

using ByRole = std::map<std::string_view, std::vector<const RunTrace*>>;

// The stretch in which all roles were recorded.
std::optional<Interval> Together(const ByRole& roles) {
  Interval together{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  for (const auto& [name, recordings] : roles) {
    Interval role{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (const RunTrace* of : recordings) {
      const Interval span = RecordedSpan(*of);
      role = {std::min(role.start, span.start), std::max(role.end, span.end)};
    }
    together = {std::max(together.start, role.start), std::min(together.end, role.end)};
  }
  return together.length() > kLeastRoleWaitNs ? std::optional(together) : std::nullopt;
}

Intervals WorkOf(const DeviceTimeline& device) {
  return Unite(Unite(device.compute, device.communication), device.copies);
}

void AddWorkers(const RunTrace& of, const std::optional<Interval>& together, RoleTimes& role) {
  const Interval span = together.value_or(RecordedSpan(of)), own = Shifted(span, -of.ts_shift_ns);
  if (of.trace->gpu_ops.size() == 0) {
    Intervals busy = Shifted(Clip(Operators(*of.trace), own), of.ts_shift_ns);
    return role.workers.push_back({.of = &of, .busy = std::move(busy), .looked_at = span});
  }
  Window window;
  window.span = window.host = own;
  TraceTimeline timeline = MakeTimeline(
      of, [&] { return window; }, false);
  for (DeviceTimeline& device : timeline.devices) {
    Intervals busy = Shifted(Clip(WorkOf(device), own), of.ts_shift_ns);
    role.workers.push_back({.of = &of, .device = std::move(device), .busy = std::move(busy), .looked_at = span});
  }
}

// Joins intervals that lie less than `least` apart.
Intervals Bridged(const Intervals& all, int64_t least) {
  Intervals bridged;
  for (const Interval& span : all) {
    if (!bridged.empty() && span.start - bridged.back().end < least)
      bridged.back().end = span.end;
    else
      bridged.push_back(span);
  }
  return bridged;
}

RoleTimes TimesOf(std::string_view name, const std::vector<const RunTrace*>& recordings,
                  const std::optional<Interval>& together) {
  RoleTimes role{.role = name, .first = recordings.front()};
  std::set<int> processes;
  Intervals busy;
  for (const RunTrace* of : recordings) {
    processes.insert(of->process);
    role.leads = role.leads || of->leads;
    AddWorkers(*of, together, role);
  }
  for (const RoleWorker& worker : role.workers) busy = Unite(busy, worker.busy);
  role.processes = static_cast<int64_t>(processes.size());
  role.at_work = Bridged(busy, kLeastRoleWaitNs);
  return role;
}

// The leading role's work, one interval from each end of its waiting for others to the next.
std::vector<Interval> IterationsOf(const JobRoles& job) {
  Intervals others, own;
  for (const RoleTimes& role : job.roles) {
    Intervals& all = role.leads ? own : others;
    all = Unite(all, role.at_work);
  }
  std::vector<Interval> iterations;
  for (size_t i = 0; i < own.size(); ++i) {
    const bool waited = i > 0 && TotalIn(others, {own[i - 1].end, own[i].start}) >= kLeastRoleWaitNs;
    if (waited && !iterations.empty()) iterations.back().end = own[i].start;
    if (waited) iterations.push_back({own[i].start, own[i].end});
  }
  if (!iterations.empty()) iterations.pop_back();  // nobody saw it end
  return iterations;
}

}  // namespace

Intervals LongPauses(const RoleWorker& worker) {
  Intervals pauses = Subtract({worker.looked_at}, worker.busy);
  std::erase_if(pauses, [](Interval pause) { return pause.length() < kLeastRoleWaitNs; });
  return pauses;
}

JobRoles JobRolesOf(Tables& tables) {
  JobRoles job;
  if (tables.of_summaries()) return job;
  ByRole by_role;
  for (const RunTrace* of : tables.run().of_all_roles())
    if (of->trace->gpu_ops.size() > 0 || !Operators(*of->trace).empty()) by_role[NameOf(*of)].push_back(of);
  if (by_role.size() < 2) return job;
  job.together = Together(by_role);
  for (const auto& [name, recordings] : by_role) job.roles.push_back(TimesOf(name, recordings, job.together));
  if (job.together) job.iterations = IterationsOf(job);
  return job;
}

}  // namespace gapless::internal
