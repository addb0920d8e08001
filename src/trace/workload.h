// SPDX-License-Identifier: Apache-2.0
// The kind of a program, as names in its recordings show it: operators, annotations, kernels and Python frames.
#pragma once

#include <set>
#include <string_view>

#include "trace/trace.h"

namespace gapless::internal {

// kUnknown: only GPU operations were recorded, and their names do not show it.
enum class Workload : uint8_t { kUnknown, kTraining, kInference, kServing };
std::string_view ToString(Workload workload);  // "" of kUnknown

// Serving: an engine's iterations, its Python frames, or kernels that fill a paged cache of keys and values. Training:
// a backward pass or an optimizer. Inference: operators of a model without either. The names live in the traces.
class WorkloadSigns {
 public:
  void Add(const Trace& trace);
  Workload workload() const;

 private:
  bool serves_ = false, trains_ = false;
  std::set<std::string_view> operators_;
};

// Returns true for an operator of a backward pass: AddmmBackward0, CompiledFunctionBackward, aten::threshold_backward;
// false for a hook that is set up for it (RegisterPostBackwardFunction).
bool IsBackward(std::string_view name);

// The part that a process has in its job. kUnknown: nothing recorded tells. kOnlyCalls: operators ran, or
// an engine, and nothing was trained. kOther: it loads data.
enum class JobPart : uint8_t { kUnknown, kOnlyCalls, kOther, kTrains };  // what says more comes later
// Returns what one recording shows: our agent knows it of the whole process; else the names say it.
JobPart PartOf(const Trace& trace);

// Returns the value of a row of table environment; "" without one.
std::string_view EnvironmentOf(const Trace& trace, std::string_view key);
// Returns the settings (JSON) of the loader that the training reads, as the agent saw them; "" if it saw none.
// Frameworks read some batches of the validation first: of several loaders it is the first that does not read in order.
std::string_view TrainingLoaderOf(const Trace& trace);
// Returns true for what our agent recorded of a loader's worker.
bool LoadsData(const Trace& trace);

// Calls f(name, whether it is a Python frame) once for each distinct name of the recording's slices and kernels, until
// f returns true. Returns whether it did.
template <class F>
bool AnyNameIn(const Trace& trace, F&& f) {
  std::vector<uint8_t> done(trace.strings.size());
  const auto once = [&](StringId name, bool frame) {
    uint8_t& seen = done[static_cast<uint32_t>(name)];
    return seen == 0 && (seen = 1, f(trace.Text(name), frame));
  };
  for (size_t row = 0; row < trace.slices.size(); ++row)
    if (once(trace.slices.name[row], trace.slices.category[row] == SliceCategory::kPython)) return true;
  for (const StringId name : trace.gpu_ops.name)
    if (once(name, false)) return true;
  return false;
}

}  // namespace gapless::internal
