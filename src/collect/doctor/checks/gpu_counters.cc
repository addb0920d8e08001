// SPDX-License-Identifier: Apache-2.0
// Checks whether the driver lets users read the performance counters, which ncu needs.
#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::gpu_counters_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  const auto params = ReadSmallFile(around.sources.proc + "/driver/nvidia/params");
  if (!params) return {};
  const auto restricted = NumberAfter(*params, "RmProfilingAdminOnly");
  if (!restricted) return {};
  if (*restricted == 0) return {{Health::kOk, "GPU counters", "open to all users", "", ""}};
  if (around.privileged) return {{Health::kOk, "GPU counters", "for administrators only, which this user is", "", ""}};
  return {{Health::kWarning, "GPU counters", "for administrators only",
           "ncu and the GPU metrics of nsys end with ERR_NVGPUCTRPERM; timelines are not affected",
           "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/gpu-counters.conf; "
           "then restart the machine (in a container: --cap-add=SYS_ADMIN)"}};
}

}  // namespace

DOCTORCHECK(gpu_counters) = {
    .name = "gpu_counters", .help = "May users read the GPU's performance counters?", .look = Look};

}  // namespace gapless::internal::gpu_counters_doctorcheck
