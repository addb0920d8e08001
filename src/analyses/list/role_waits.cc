// SPDX-License-Identifier: Apache-2.0
// Holds the pauses of each role's devices against the work of each other role (role_times.h), over all recorded time
// and in each iteration of the job. That a role idles while another works is no proof that it waits for it; in a job
// whose roles take turns it is what waiting looks like. Where two others work at once, the time stands in both rows;
// alone_ns is what only one of them explains.
#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/role_times.h"
#include "analyses/rows/roles.h"

namespace gapless::internal::role_waits_analysis {
namespace {

// The work of all roles but these two.
Intervals WorkOfRest(const JobRoles& job, const RoleTimes& one, const RoleTimes& two) {
  Intervals rest;
  for (const RoleTimes& role : job.roles)
    if (&role != &one && &role != &two) rest = Unite(rest, role.at_work);
  return rest;
}

void AddPair(const JobRoles& job, const RoleTimes& role, const RoleTimes& other, TableOf<RoleWaitsRows>& table) {
  const Intervals rest = WorkOfRest(job, role, other);
  std::vector<Intervals> waits, alone;  // by worker
  int64_t all = 0;
  for (const RoleWorker& worker : role.workers) {
    waits.push_back(Intersect(LongPauses(worker), other.at_work));
    alone.push_back(Subtract(waits.back(), rest));
    all += Total(waits.back());
  }
  if (all == 0) return;
  const auto add = [&](Interval span, int64_t iteration) {
    int64_t wait = 0, only = 0;
    for (size_t i = 0; i < waits.size(); ++i) wait += TotalIn(waits[i], span), only += TotalIn(alone[i], span);
    const auto workers = static_cast<int64_t>(role.workers.size());
    table.Row()
        .Set("trace", role.first->index)
        .Set("role", role.role)
        .Set("waits_for", other.role)
        .Set("iteration", iteration)
        .Set("ts_ns", span.start)
        .Set("dur_ns", span.length())
        .Set("wait_ns", wait)
        .Set("alone_ns", only)
        .Set("share", ShareOf(wait, workers * span.length()));
  };
  add(*job.together, kAbsent);
  for (size_t i = 0; i < job.iterations.size(); ++i) add(job.iterations[i], static_cast<int64_t>(i));
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RoleWaitsRows> table;
  const JobRoles& job = tables.OnceForRun(JobRolesOf);
  if (!job.together) return table;
  for (const RoleTimes& role : job.roles)
    for (const RoleTimes& other : job.roles)
      if (&role != &other) AddPair(job, role, other, table);
  return table;
}

}  // namespace

ANALYSIS(role_waits) = AnalysisOf<RoleWaitsRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::role_waits_analysis
