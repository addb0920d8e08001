// SPDX-License-Identifier: Apache-2.0
// Plans and makes the further runs of `gapless profile --with nsys,ncu`.
//
// nsys records the whole command once more. ncu replays single kernels many times, which is slow, so it measures only
// those with the longest total time in the recording that was made before. Their reports become other executions of the
// run and are never added to its times. A failure is a sentence; the recording of the first run stays.
#include "cli/nsight_runs.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "collect/nsight/programs.h"
#include "ingest/load.h"

namespace gapless::internal {
namespace {

// Returns true if the tool was asked for by name or by --comprehensive.
bool Wanted(const NsightOptions& options, NsightTool tool) {
  return options.comprehensive || std::ranges::find(options.with, tool) != options.with.end();
}

// Returns total time and calls per kernel of the recording, communication left out; empty if it cannot be read.
std::vector<KernelTotal> KernelTotals(const std::string& run_folder) {
  const std::vector<std::string> paths{run_folder};
  const auto loaded = LoadRun(paths);
  std::map<std::string, KernelTotal> totals;
  if (!loaded) return {};
  for (const RunTrace* run_trace : loaded->run.primary()) {
    const GpuOpTable& ops = run_trace->trace->gpu_ops;
    for (size_t row = 0; row < ops.size(); ++row) {
      if (ops.kind[row] != GpuOpKind::kKernel || ops.op_class[row] == GpuOpClass::kCommunication) continue;
      KernelTotal& total = totals[std::string(run_trace->trace->Text(ops.name[row]))];
      total.total_ns += ops.dur_ns[row];
      ++total.calls;
    }
  }
  std::vector<KernelTotal> kernels;
  for (auto& [name, total] : totals) {
    total.name = name;
    kernels.push_back(total);
  }
  return kernels;
}

// Measures the longest kernels; each failure becomes a sentence of its own.
void RunCompute(const NsightPlan& plan, const std::vector<std::string>& command, const std::string& run_folder,
                std::vector<std::string>& done) {
  const auto targets = ChooseKernels(KernelTotals(run_folder), plan.compute_options);
  if (targets.empty()) return done.push_back("ncu: no kernel was recorded, so ncu measured nothing"), void();
  std::vector<Error> failures;
  const auto results =
      NsightComputeProfiler().ProfileKernels(command, targets, run_folder + "/ncu", plan.compute_options, failures);
  for (const Error& failure : failures) done.push_back(StrCat("ncu: ", failure.ToString()));
  if (!results && failures.empty()) done.push_back(StrCat("ncu: ", results.error().ToString()));
  if (!results) return;
  done.push_back(StrCat("ncu measured ", results->size(), results->size() == 1 ? " kernel" : " kernels"));
}

}  // namespace

// A tool that is not installed is dropped from the plan here, before the command runs for the first time.
NsightPlan NsightPlanFrom(const NsightOptions& options) {
  NsightPlan plan;
  plan.systems = Wanted(options, NsightTool::kSystems);
  plan.compute = Wanted(options, NsightTool::kCompute);
  if (!options.trace.empty()) plan.systems_options.trace = options.trace;
  plan.systems_options.duration_s = options.duration;
  plan.systems_options.cuda_memory_usage = options.cuda_memory_usage;
  if (!options.kernel_name.empty()) plan.compute_options.kernel_name = options.kernel_name;
  plan.compute_options.launch_count = options.launch_count.value_or(plan.compute_options.launch_count);
  if (!options.set.empty()) plan.compute_options.set = options.set;
  const auto require = [&](bool& wanted, std::string_view tool) {
    if (!wanted || FindNsight(tool, {})) return;
    wanted = false;
    plan.missing.push_back(StrCat(tool, " is not installed, so it is left out: ", HowToGet(tool)));
  };
  require(plan.systems, "nsys");
  require(plan.compute, "ncu");
  return plan;
}

std::vector<std::string> RunNsight(const NsightPlan& plan, const std::vector<std::string>& command,
                                   const std::string& run_folder) {
  std::vector<std::string> done;
  if (plan.systems) {
    const auto result = NsightSystemsProfiler().Profile(command, run_folder + "/nsys/report", plan.systems_options);
    done.push_back(result ? "nsys recorded another run of the command" : StrCat("nsys: ", result.error().ToString()));
  }
  if (plan.compute) RunCompute(plan, command, run_folder, done);
  return done;
}

}  // namespace gapless::internal
