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

Interval Shifted(Interval span, int64_t shift_ns) { return {span.start + shift_ns, span.end + shift_ns}; }

// A recording of a role with its work.
struct Recording {
  const RunTrace* of = nullptr;
  RecordedWork work{};
  Interval span() const { return Shifted(work.span, of->ts_shift_ns); }  // in the run's time
};

using ByRole = std::map<std::string_view, std::vector<Recording>>;

// The stretch in which all roles were recorded.
std::optional<Interval> Together(const ByRole& roles) {
  Interval together{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  for (const auto& [name, recordings] : roles) {
    Interval role{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (const Recording& recording : recordings) {
      const Interval span = recording.span();
      role = {std::min(role.start, span.start), std::max(role.end, span.end)};
    }
    together = {std::max(together.start, role.start), std::min(together.end, role.end)};
  }
  return together.length() > kLeastRoleWaitNs ? std::optional(together) : std::nullopt;
}

void AddWorkers(Recording& recording, const std::optional<Interval>& together, RoleTimes& role) {
  const RunTrace& of = *recording.of;
  const Interval span = together.value_or(recording.span());
  for (DeviceStretches& device : recording.work.devices) {
    RoleWorker worker{.of = &of, .is_device = device.device != kAbsent32, .looked_at = span};
    worker.stretches = StretchesIn(device.stretches, Shifted(span, -of.ts_shift_ns));
    Shift(worker.stretches, of.ts_shift_ns);
    for (const WorkStretch& stretch : worker.stretches)
      if (stretch.busy() > 0) AppendMerged(worker.busy, stretch.span);
    role.workers.push_back(std::move(worker));
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

RoleTimes TimesOf(std::string_view name, std::vector<Recording>& recordings, const std::optional<Interval>& together) {
  RoleTimes role{.role = name, .first = recordings.front().of};
  std::set<int> processes;
  Intervals busy;
  for (Recording& recording : recordings) {
    processes.insert(recording.of->process);
    role.leads = role.leads || recording.of->leads;
    AddWorkers(recording, together, role);
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
  ByRole by_role;
  for (const RunTrace* of : tables.run().of_all_roles())
    if (RecordedWork work = WorkOfRecording(*of); !work.devices.empty())
      by_role[NameOf(*of)].push_back({of, std::move(work)});
  if (by_role.size() < 2) return job;
  job.together = Together(by_role);
  for (auto& [name, recordings] : by_role) job.roles.push_back(TimesOf(name, recordings, job.together));
  if (job.together) job.iterations = IterationsOf(job);
  return job;
}

}  // namespace gapless::internal
