// SPDX-License-Identifier: Apache-2.0
// Checks whether a process may attach to another of the same user. Level 3 forbids it even to root.
#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::ptrace_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  const auto scope = ToInt(ReadLineOf(around.sources.proc + "/sys/kernel/yama/ptrace_scope"));
  if (!scope) return {{Health::kOk, "attaching", "not restricted", "", ""}};
  const std::string saw = StrCat("ptrace_scope is ", *scope);
  if (*scope == 0 || (*scope < 3 && around.privileged)) return {{Health::kOk, "attaching", saw, "", ""}};
  return {{Health::kWarning, "attaching", saw, "py-spy cannot attach to a process that is running already",
           "sudo sysctl kernel.yama.ptrace_scope=0 (in a container: --cap-add=SYS_PTRACE)"}};
}

}  // namespace

DOCTORCHECK(ptrace) = {.name = "ptrace", .help = "May a process look into another?", .look = Look};

}  // namespace gapless::internal::ptrace_doctorcheck
