// SPDX-License-Identifier: Apache-2.0
// The work of each role of a job (trace/job_role.h) on one time axis, for the tables that hold roles against each
// other.
//
// A worker is a device of a process, or a process that uses none. A device works while anything runs on it; a process
// without one while an operator runs. All are looked at in the stretch of time in which every role was recorded: what
// one of them did while another was not recorded says nothing of who waited for whom. Where there is no such stretch,
// each recording is looked at as a whole, and nothing is said of waiting.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyses/role_work.h"

namespace gapless::internal {

class Tables;

struct RoleWorker {
  const RunTrace* of = nullptr;
  bool is_device = true;                 // false: the process
  std::vector<WorkStretch> stretches{};  // of its time in the stretch, in the run's time, as all of this
  Intervals busy{};
  Interval looked_at{};
};

struct RoleTimes {
  std::string_view role;
  const RunTrace* first = nullptr;  // of its recordings
  bool leads = false;
  int64_t processes = 0;
  std::vector<RoleWorker> workers{};
  Intervals at_work{};  // some worker is at work, shorter interruptions than kLeastRoleWaitNs included
};

struct JobRoles {
  std::optional<Interval> together{};  // every role was recorded then; in the run's time
  std::vector<RoleTimes> roles{};      // by name; empty: nobody says a role, or there is only one
  // Work of the leading role, divided where it waited for others: its iterations begin with each.
  std::vector<Interval> iterations{};
};
JobRoles JobRolesOf(Tables& tables);  // for Tables::OnceForRun

// Returns the stretches of kLeastRoleWaitNs or more in which the worker does nothing.
Intervals LongPauses(const RoleWorker& worker);

}  // namespace gapless::internal
