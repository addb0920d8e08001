// SPDX-License-Identifier: Apache-2.0
// Checks whether users may sample the processors: level 2 or below of the kernel's setting allows a user's own
// processes.
#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::perf_events_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  const auto level = ToInt(ReadLineOf(around.sources.proc + "/sys/kernel/perf_event_paranoid"));
  if (!level) return {{Health::kUnknown, "CPU sampling", "this kernel has no performance events", "", ""}};
  const std::string saw = StrCat("perf_event_paranoid is ", *level);
  if (*level <= 2 || around.privileged) return {{Health::kOk, "CPU sampling", saw, "", ""}};
  return {{Health::kWarning, "CPU sampling", saw, "nsys and perf cannot sample what processors do",
           "sudo sysctl kernel.perf_event_paranoid=2"}};
}

}  // namespace

DOCTORCHECK(perf_events) = {.name = "perf_events", .help = "May users sample the processors?", .look = Look};

}  // namespace gapless::internal::perf_events_doctorcheck
