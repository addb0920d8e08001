// SPDX-License-Identifier: Apache-2.0
// Checks that the process may run on at least one processor of each GPU's NUMA node.
#include <set>

#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::gpu_numa_doctorcheck {
namespace {

// "0-3,8" as numbers.
std::set<int64_t> Numbers(std::string_view list) {
  std::set<int64_t> numbers;
  for (const std::string_view part : Split(list, ',')) {
    const auto dash = part.find('-');
    const auto from = ToInt(part.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : ToInt(part.substr(dash + 1));
    if (!from || !to || *to - *from > 65536) continue;
    for (int64_t i = *from; i <= *to; ++i) numbers.insert(i);
  }
  return numbers;
}

// Returns the processors that this process may run on; empty if /proc does not say.
std::set<int64_t> AllowedProcessors(const std::string& proc) {
  const auto status = ReadSmallFile(proc + "/self/status");
  if (!status) return {};
  for (const std::string_view line : Lines(*status))
    if (line.starts_with("Cpus_allowed_list:"))
      if (const auto words = Words(line); words.size() == 2) return Numbers(words[1]);
  return {};
}

std::vector<HealthFinding> Look(const Surroundings& around) {
  const std::set<int64_t> allowed = AllowedProcessors(around.sources.proc);
  return ForEachGpu(around, [&](size_t, nvml::Device device) -> std::optional<HealthFinding> {
    const std::string& sys = around.sources.sys;
    const auto node =
        ToInt(ReadLineOf(StrCat(sys, "/bus/pci/devices/", around.nvml->PciBusIdOf(device), "/numa_node")));
    if (!node || allowed.empty()) return std::nullopt;
    if (*node < 0) return HealthFinding{Health::kOk, "distance", "one NUMA node", "", ""};
    const auto beside = Numbers(ReadLineOf(StrCat(sys, "/devices/system/node/node", *node, "/cpulist")));
    if (beside.empty()) return std::nullopt;
    int64_t near = 0;
    for (const int64_t cpu : allowed) near += static_cast<int64_t>(beside.contains(cpu));
    const std::string saw = StrCat("NUMA node ", *node, ", ", near, " of ", allowed.size(), " processors beside it");
    if (near > 0) return HealthFinding{Health::kOk, "distance", saw, "", ""};
    return HealthFinding{Health::kWarning, "distance", saw,
                         "copies to the GPU cross from one processor socket to another",
                         StrCat("numactl --cpunodebind=", *node, " --membind=", *node, " COMMAND")};
  });
}

}  // namespace

DOCTORCHECK(gpu_numa) = {
    .name = "gpu_numa", .help = "Do the processors of this process sit beside the GPU?", .look = Look};

}  // namespace gapless::internal::gpu_numa_doctorcheck
