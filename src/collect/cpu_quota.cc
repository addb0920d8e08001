// SPDX-License-Identifier: Apache-2.0
// Reads CPU quotas from cgroup versions 1 and 2; the tightest quota up to the root counts.
#include "collect/cpu_quota.h"

#include "base/strings.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal {
namespace {

// Returns the quota of one group: cpu.max of version 2 ("max 100000" or "200000 100000"), or the two files of
// version 1.
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

}  // namespace

// A group may have a looser quota than one above it, so the whole way up to the root is read.
std::optional<double> CpuQuota(const TelemetrySources& sources) {
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

}  // namespace gapless::internal
