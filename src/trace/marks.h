// SPDX-License-Identifier: Apache-2.0
// Names that frameworks give to what matters to more than one room.
#pragma once

#include <string_view>

namespace gapless::internal {

// Returns true for PyTorch's marks around waiting for the next batch:
// `enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__`, `enumerate(DataPipe)#…`.
inline bool IsDataLoadingMark(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)") || name.starts_with("enumerate(DataPipe)");
}

// Returns true if `name` is one iteration of an engine that serves a language model (analyses/engine_iteration.h has
// the forms).
inline bool IsEngineIteration(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (name.starts_with("execute_")) return (has("context_") && has("generation_")) || (has("new_") && has("cached_"));
  return (name.starts_with("step[") && has("bs=")) || name.starts_with("[Executor] _forward_step");
}

// Returns true for the Python function in which an operator keeps its stack while autograd detects anomalies, or a
// graph is traced: "torch/fx/traceback.py(504): format_stack".
inline bool KeepsForwardStack(std::string_view name) {
  return name.ends_with(": format_stack") && name.find("torch/fx/traceback.py(") != name.npos;
}

// Names of what the agent reports of a whole run. Behind kBesideName comes what it is, "images: Image.save", and behind
// kInThreadName what no step waited for. What the profiler records, too, has the name that it has there.
inline constexpr std::string_view kBatchWaitName = "wait for the next batch", kGarbageName = "Python GC",
                                  kSaveName = "torch.save", kProfilerRecordsName = "profiler records",
                                  kRolloutName = "rollout (environment steps)",
                                  kEvaluationName = "evaluation (the model in evaluation mode)",
                                  kBesideName = "beside the training: ", kInThreadName = "in another thread: ",
                                  kCompiledAgainName = "compiled again: ", kGraphBreakName = "graph break: ",
                                  kCompileSuffix = " (dynamo_timed)";
// Counters of a slice of work beside the training, at its start: its name and one of these.
inline constexpr std::string_view kCallsSuffix = ", calls", kLongestSuffix = ", the longest";
inline constexpr std::string_view kEnvironmentStepsName = "environment steps",
                                  kEnvironmentTimeName = "stepping environments";  // counters, of one rollout
inline constexpr std::string_view kSkippedStepName = "skipped step", kLossScaleName = "loss scale";  // counters

}  // namespace gapless::internal
