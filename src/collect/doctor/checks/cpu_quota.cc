// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal {
namespace {

// cpu.max of version 2 ("max 100000" or "200000 100000"), or the two files of version 1; the tightest up to the root
// counts.
std::optional<double> CoresOf(const std::string& folder) {
  const std::string line = ReadLineOf(folder + "/cpu.max");
  if (const auto words = Words(line); words.size() == 2) {
    const auto quota = ToReal(words[0]), period = ToReal(words[1]);
    if (quota && period && *period > 0) return *quota / *period;
  }
  const auto quota = ToReal(ReadLineOf(folder + "/cpu.cfs_quota_us"));
  const auto period = ToReal(ReadLineOf(folder + "/cpu.cfs_period_us"));
  if (quota && period && *quota > 0 && *period > 0) return *quota / *period;
  return std::nullopt;
}

std::optional<double> TightestQuota(const TelemetrySources& sources) {
  const auto text = ReadSmallFile(sources.proc + "/self/cgroup");
  if (!text) return std::nullopt;
  std::optional<double> tightest;
  for (const std::string_view line : Lines(*text)) {
    const auto parts = Split(line, ':');
    if (parts.size() < 3 || line.find("..") != std::string_view::npos) continue;
    const bool unified = parts[0] == "0" && parts[1].empty();
    if (!unified && parts[1] != "cpu" && parts[1] != "cpu,cpuacct") continue;
    const std::string root = StrCat(sources.sys, "/fs/cgroup", unified ? "" : "/", parts[1]);
    std::string path(line.substr(parts[0].size() + parts[1].size() + 2));
    for (;; path.resize(path.rfind('/'))) {
      if (const auto cores = CoresOf(root + path); cores && (!tightest || *cores < *tightest)) tightest = cores;
      if (path.rfind('/') == std::string::npos) break;
    }
  }
  return tightest;
}

std::vector<HealthFinding> Look(const Surroundings& around) {
  const std::string stat = ReadSmallFile(around.sources.proc + "/stat").value_or("");
  int64_t processors = 0;
  for (const std::string_view line : Lines(stat))
    processors += static_cast<int64_t>(line.starts_with("cpu") && line.size() > 3 && line[3] != ' ');
  if (processors == 0) return {};
  const auto quota = TightestQuota(around.sources);
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

}  // namespace gapless::internal
