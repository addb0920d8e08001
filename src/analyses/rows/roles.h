// SPDX-License-Identifier: Apache-2.0
// Tables roles and role_waits, for their analyses and their readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RolesRows : TypedRows<RolesRows> {
  static constexpr std::string_view kName = "roles";
  static constexpr std::string_view kHelp =
      "Roles of a job of several programs: how each spends the time of its devices";
  static constexpr ColumnSpec kColumns[] = {
      {"trace", kInt, "", "a recording of the role, the first: key of table trace"},
      {"rank", kInt, "", "always NULL: a role has several"},
      {"role", kText, "", "name of the role: --role, the program's word, Ray's actor"},
      {"leads", kInt, "", "1: the role that the other tables and the findings are about"},
      {"processes", kInt, "", "processes that were recorded"},
      {"devices", kInt, "", "devices that they use"},
      {"wall_ns", kInt, "ns",
       "time of all its devices, or of its processes where it has none, in the stretch that all roles recorded"},
      {"busy_ns", kInt, "ns", "of that, something runs: on the device, or an operator in the process"},
      {"compute_ns", kInt, "ns", "some kernel that is not communication runs; NULL: no device"},
      {"exposed_comm_ns", kInt, "ns", "communication kernels run and nothing computes; NULL: no device"},
      {"exposed_copy_ns", kInt, "ns", "only copies or fills run; NULL: no device"},
      {"idle_ns", kInt, "ns", "wall_ns less busy_ns"},
      {"idle_data_ns", kInt, "ns", "idle while the host waits for the next batch; NULL: no device"},
      {"idle_launch_ns", kInt, "ns", "idle while the host issues work; NULL: no device"},
      {"idle_sync_ns", kInt, "ns", "idle while the host is in a call that blocks; NULL: no device"},
      {"idle_host_ns", kInt, "ns", "idle while the host does something else; NULL: no device"},
      {"idle_unknown_ns", kInt, "ns", "idle for a reason that was not recorded; NULL: no device"},
      {"waiting_ns", kInt, "ns",
       "of idle_ns, in stretches of 5 ms or more in which another role works; NULL: the roles share no recorded time"},
  };
};

struct RoleWaitsRows : TypedRows<RoleWaitsRows> {
  static constexpr std::string_view kName = "role_waits";
  static constexpr std::string_view kHelp = "Who waits for whom: a role's devices idle while another role works";
  static constexpr ColumnSpec kColumns[] = {
      {"trace", kInt, "", "a recording of the role that idles, the first: key of table trace"},
      {"rank", kInt, "", "always NULL: a role has several"},
      {"role", kText, "", "the role that idles"},
      {"waits_for", kText, "", "the role that works meanwhile"},
      {"iteration", kInt, "",
       "of the job, which begins where the leading role works again after it waited; NULL: all recorded time"},
      {"ts_ns", kInt, "ns", "start of the iteration"},
      {"dur_ns", kInt, "ns", "its length"},
      {"wait_ns", kInt, "ns",
       "idle time of the role's devices (processes, without one) in stretches of 5 ms or more, while waits_for works"},
      {"alone_ns", kInt, "ns", "of that, while no other role works"},
      {"share", kReal, "share", "wait_ns over the time of the role's devices in the iteration"},
  };
};

}  // namespace gapless::internal
