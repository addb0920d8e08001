// SPDX-License-Identifier: Apache-2.0
#include "diagnose/run_traits.h"

#include <algorithm>
#include <string_view>

#include "trace/marks.h"

namespace gapless::internal {
namespace {

template <class Matches>
bool AnyName(const Table& table, Matches matches) {
  const int name = table.Find("name");
  for (size_t row = 0; row < table.rows(); ++row)
    if (matches(table.Text(row, name))) return true;
  return false;
}

struct Part {
  std::string_view part;
  Workload shows;
};
// Parts of names that only such a run has. Kernels of attention backward have `bwd` in names that inference lacks.
constexpr Part kParts[] = {{"reshape_and_cache", Workload::kServing},
                           {"store_kvcache", Workload::kServing},
                           {"paged_attention", Workload::kServing},
                           {"vllm/v1/", Workload::kServing},
                           {"vllm/worker/", Workload::kServing},
                           {"vllm/engine/", Workload::kServing},
                           {"sglang/srt/", Workload::kServing},
                           {"tensorrt_llm/_torch/pyexecutor", Workload::kServing},
                           {"Backward", Workload::kTraining},
                           {"_backward", Workload::kTraining},
                           {"Optimizer.step#", Workload::kTraining},
                           {"_bwd_", Workload::kTraining},
                           {"bwd_kernel", Workload::kTraining},
                           {"wgrad", Workload::kTraining},
                           {"dgrad", Workload::kTraining},
                           {"multi_tensor_apply", Workload::kTraining}};

Workload WorkloadOfName(std::string_view name) {
  if (IsEngineIteration(name)) return Workload::kServing;
  for (const Part& one : kParts)
    if (name.find(one.part) != name.npos) return one.shows;
  return name.starts_with("aten::") ? Workload::kInference : Workload::kUnknown;
}

}  // namespace

Workload WorkloadOf(const Run& run) {
  bool serves = false, trains = false, operates = false;
  for (const RunTrace* one : run.primary()) {
    const StringPool& strings = one->trace->strings;
    for (size_t id = 0; id < strings.size(); ++id) {
      const Workload shows = WorkloadOfName(strings[static_cast<StringId>(id)]);
      serves = serves || shows == Workload::kServing, trains = trains || shows == Workload::kTraining;
      operates = operates || shows == Workload::kInference;
    }
  }
  // An engine may contain code that trains (its names are texts too), training no engine.
  if (serves) return Workload::kServing;
  return trains ? Workload::kTraining : operates ? Workload::kInference : Workload::kUnknown;
}

std::string_view ToString(Workload workload) {
  switch (workload) {
    case Workload::kTraining: return "training";
    case Workload::kInference: return "inference";
    case Workload::kServing: return "serving";
    case Workload::kUnknown: break;
  }
  return {};
}

std::string PinnedCopyCode(Workload workload) {
  return workload == Workload::kTraining ? "DataLoader(..., pin_memory=True); batch = batch.to(device, non_blocking=True)"
                                         : "inputs = inputs.pin_memory().to(device, non_blocking=True)";
}

bool Trains(Tables& tables) {
  return AnyName(tables.Get("operators"), [](std::string_view name) {
    return name.find("Backward") != name.npos || name.find("_backward") != name.npos;
  });
}

bool SeesCompiler(Tables& tables) {
  return AnyName(tables.Get("kernels"), [](std::string_view name) { return name.starts_with("triton_"); }) ||
         AnyName(tables.Get("operators"), [](std::string_view name) {
           return name.starts_with("CompiledFunction") || name.starts_with("Torch-Compiled Region");
         });
}

}  // namespace gapless::internal
