// SPDX-License-Identifier: Apache-2.0
// Checks whether the energy of the host's processors can be read. Since 2020 the kernel gives the counters to root
// only.
#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::rapl_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  const std::string folder = around.sources.sys + "/class/powercap";
  int64_t zones = 0, readable = 0;
  for (const std::string& name : NamesIn(folder)) {
    if (!name.starts_with("intel-rapl:") || !ReadLineOf(StrCat(folder, '/', name, "/name")).starts_with("package"))
      continue;
    ++zones, readable += ToInt(ReadLineOf(StrCat(folder, '/', name, "/energy_uj"))).has_value();
  }
  if (zones == 0) return {{Health::kUnknown, "CPU energy", "this machine shows no energy counters", "", ""}};
  if (readable == zones)
    return {{Health::kOk, "CPU energy", FormatCounted(zones, "package is counted", "packages are counted"), "", ""}};
  return {{Health::kWarning, "CPU energy", "only root may read the counters", "recordings have no energy of the host",
           "sudo -E gapless profile -- …"}};
}

}  // namespace

DOCTORCHECK(rapl) = {.name = "rapl", .help = "Can the energy of the processors be read?", .look = Look};

}  // namespace gapless::internal::rapl_doctorcheck
