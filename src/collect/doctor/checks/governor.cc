// SPDX-License-Identifier: Apache-2.0
// Checks the frequency governors of the processors. The three that lower the clock when a processor is idle are
// warned about, since training wakes processors in short bursts. Virtual machines show no governor.
#include <map>

#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::governor_doctorcheck {
namespace {

std::vector<HealthFinding> Look(const Surroundings& around) {
  const std::string folder = around.sources.sys + "/devices/system/cpu";
  std::map<std::string, int64_t> governors;
  for (const std::string& name : NamesIn(folder)) {
    if (!name.starts_with("cpu")) continue;
    const std::string governor = ReadLineOf(StrCat(folder, '/', name, "/cpufreq/scaling_governor"));
    if (!governor.empty()) ++governors[governor];
  }
  if (governors.empty()) return {{Health::kUnknown, "CPU governor", "set outside of this machine", "", ""}};
  std::string saw;
  for (const auto& [governor, count] : governors) saw += StrCat(saw.empty() ? "" : ", ", governor, " on ", count);
  if (!governors.contains("powersave") && !governors.contains("ondemand") && !governors.contains("conservative"))
    return {{Health::kOk, "CPU governor", saw, "", ""}};
  return {{Health::kWarning, "CPU governor", saw,
           "processors that slow down between bursts launch kernels late and make times vary",
           "sudo cpupower frequency-set -g performance"}};
}

}  // namespace

DOCTORCHECK(governor) = {.name = "governor", .help = "Do processors run at full speed?", .look = Look};

}  // namespace gapless::internal::governor_doctorcheck
