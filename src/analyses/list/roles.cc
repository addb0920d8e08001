// SPDX-License-Identifier: Apache-2.0
// One ledger for each role of a job, over the stretch of time that all of them recorded (role_times.h). For roles with
// devices compute + exposed_comm + exposed_copy = busy, and busy + idle = wall, to the nanosecond.
#include "analyses/rows/roles.h"

#include <array>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/role_times.h"

namespace gapless::internal::roles_analysis {
namespace {

struct Sums {
  int64_t devices = 0, wall = 0, busy = 0, waiting = 0;
  std::array<int64_t, 3> work{};  // compute, exposed communication, exposed copies
  std::array<int64_t, kIdleCauses> idle{};
};

void AddWorker(const RoleWorker& worker, Sums& sums) {
  sums.devices += worker.is_device ? 1 : 0, sums.wall += worker.looked_at.length();
  for (const WorkStretch& stretch : worker.stretches) {
    sums.busy += stretch.busy();
    for (size_t kind = 0; kind < sums.work.size(); ++kind) sums.work[kind] += stretch.work[kind];
    for (size_t cause = 0; cause < kIdleCauses; ++cause) sums.idle[cause] += stretch.idle[cause];
  }
}

Sums SumsOf(const RoleTimes& role, const JobRoles& job) {
  Intervals others;
  for (const RoleTimes& other : job.roles)
    if (&other != &role) others = Unite(others, other.at_work);
  Sums sums;
  for (const RoleWorker& worker : role.workers) {
    AddWorker(worker, sums);
    sums.waiting += Total(Intersect(LongPauses(worker), others));
  }
  return sums;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RolesRows> table;
  const JobRoles& job = tables.OnceForRun(JobRolesOf);
  for (const RoleTimes& role : job.roles) {
    const Sums sums = SumsOf(role, job);
    auto row = table.Row();
    row.Set("trace", role.first->index)
        .Set("role", role.role)
        .Set("leads", role.leads ? 1 : 0)
        .Set("processes", role.processes);
    row.Set("devices", sums.devices).Set("wall_ns", sums.wall).Set("busy_ns", sums.busy);
    row.Set("idle_ns", sums.wall - sums.busy);
    if (job.together) row.Set("waiting_ns", sums.waiting);
    if (sums.devices == 0) continue;
    row.SetEach({"compute_ns", "exposed_comm_ns", "exposed_copy_ns"}, sums.work);
    row.SetEach({"idle_data_ns", "idle_launch_ns", "idle_sync_ns", "idle_host_ns", "idle_unknown_ns"}, sums.idle);
  }
  return table;
}

}  // namespace

ANALYSIS(roles) = AnalysisOf<RolesRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::roles_analysis
