// SPDX-License-Identifier: Apache-2.0
// The other runs of the program that `gapless profile --with nsys,ncu` makes: Nsight Systems around the whole command,
// then Nsight Compute on the kernels that took most time. Their reports stay in the run folder, as other executions.
#pragma once

#include <string>
#include <vector>

#include "cli/option.h"
#include "collect/nsight/compute.h"
#include "collect/nsight/systems.h"

namespace gapless::internal {

enum class NsightTool : uint8_t { kSystems, kCompute };
inline constexpr Choosable<NsightTool> kNsightTools[] = {{"nsys", NsightTool::kSystems}, {"ncu", NsightTool::kCompute}};

// The things that may be asked of them. Empty: the tool's default.
struct NsightOptions {
  std::vector<NsightTool> with{};
  bool comprehensive = false, cuda_memory_usage = false;
  std::string trace{}, kernel_name{}, set{};
  std::optional<double> duration{};  // seconds
  std::optional<int64_t> launch_count{};
};

// The tools that run, and their options.
struct NsightPlan {
  bool systems = false, compute = false;
  NsightSystemsOptions systems_options;
  NsightComputeOptions compute_options;
  std::vector<std::string> missing;  // what was wanted and is not installed, and how to get it
};

NsightPlan NsightPlanFrom(const NsightOptions& options);

// Runs them with the agent switched off. Gives what was done and what failed, a sentence each.
std::vector<std::string> RunNsight(const NsightPlan& plan, const std::vector<std::string>& command,
                                   const std::string& run_folder);

}  // namespace gapless::internal
