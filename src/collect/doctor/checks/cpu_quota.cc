// SPDX-License-Identifier: Apache-2.0
// Checks whether a control group leaves fewer processors than the machine has. Programs that count the machine's
// processors then start too many threads.
#include "collect/cpu_quota.h"

#include <algorithm>

#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::cpu_quota_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  const std::string stat = ReadSmallFile(around.sources.proc + "/stat").value_or("");
  int64_t processors = 0;
  for (const std::string_view line : Lines(stat))
    processors += static_cast<int64_t>(line.starts_with("cpu") && line.size() > 3 && line[3] != ' ');
  if (processors == 0) return {};
  const auto quota = CpuQuota(around.sources);
  if (!quota || *quota >= static_cast<double>(processors))
    return {{Health::kOk, "CPU quota", StrCat("none: all ", processors, " processors"), "", ""}};
  return {{Health::kWarning, "CPU quota", StrCat(FormatNumber(*quota, 1), " of ", processors, " processors"),
           "programs that start a thread per processor are stopped again and again until the next period",
           StrCat("OMP_NUM_THREADS=", std::max<int64_t>(1, static_cast<int64_t>(*quota)),
                  " and as many loader workers; or raise the limit (--cpus, cpus-per-task)")}};
}

}  // namespace

DOCTORCHECK(cpu_quota) = {
    .name = "cpu_quota", .help = "Share of the processors that the control group leaves", .look = Look};

}  // namespace gapless::internal::cpu_quota_doctorcheck
