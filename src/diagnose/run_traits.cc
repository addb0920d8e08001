// SPDX-License-Identifier: Apache-2.0
// Finds the traits of a run by parts of names. Each distinct name of a recording is judged once.
#include "diagnose/run_traits.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/rows/kernels.h"
#include "analyses/rows/operators.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

template <class R, class Matches>
bool AnyName(const TypedRows<R>& rows, Matches matches) {
  for (size_t row = 0; row < rows.rows(); ++row)
    if (matches(rows.Text(row, "name"))) return true;
  return false;
}

// Returns true for an operator of a backward pass: AddmmBackward0, CompiledFunctionBackward, aten::threshold_backward;
// false for a hook that is set up for it (RegisterPostBackwardFunction).
bool IsBackward(std::string_view name) {
  if (name.starts_with("aten::")) return name.find("_backward") != name.npos;
  const size_t at = name.find("Backward");
  if (at == name.npos) return false;
  const std::string_view rest = name.substr(at + 8);
  return rest.empty() || !((rest[0] >= 'a' && rest[0] <= 'z') || (rest[0] >= 'A' && rest[0] <= 'Z') || rest[0] == '_');
}

constexpr size_t kOperatorsOfAModel = 10;  // different ones; fewer are a loop of a few operators, whatever it is for

struct NamePart {
  std::string_view part;
  Workload shows;
};
// Parts of names of operators, annotations and kernels that only such a run has.
constexpr NamePart kNameParts[] = {
    {"reshape_and_cache", Workload::kServing}, {"store_kvcache", Workload::kServing},
    {"paged_attention", Workload::kServing},   {"autograd::engine", Workload::kTraining},
    {"Optimizer.step#", Workload::kTraining},  {"_bwd_kernel", Workload::kTraining},
    {"bwd_kernel", Workload::kTraining},       {"_wgrad", Workload::kTraining},
    {"_dgrad", Workload::kTraining},           {"multi_tensor_apply", Workload::kTraining}};
// Folders of serving engines, in Python frames.
constexpr std::string_view kEngines[] = {"vllm/v1/", "vllm/worker/", "vllm/engine/", "sglang/srt/",
                                         "tensorrt_llm/_torch/pyexecutor/"};

Workload WorkloadOfName(std::string_view name) {
  if (IsEngineIteration(name)) return Workload::kServing;
  for (const NamePart& item : kNameParts)
    if (name.find(item.part) != name.npos) return item.shows;
  if (IsBackward(name)) return Workload::kTraining;
  return name.starts_with("aten::") ? Workload::kInference : Workload::kUnknown;
}

bool IsEngineFrame(std::string_view frame) {
  return std::any_of(std::begin(kEngines), std::end(kEngines),
                     [&](std::string_view engine) { return frame.find(engine) != frame.npos; });
}

// Calls f(name, whether it is a Python frame) once for each distinct name of the recording's slices and kernels.
template <class F>
void ForEachName(const Trace& trace, F&& f) {
  std::vector<uint8_t> done(trace.strings.size());
  const auto once = [&](StringId name, bool frame) {
    if (std::exchange(done[static_cast<uint32_t>(name)], 1) == 0) f(trace.Text(name), frame);
  };
  for (size_t row = 0; row < trace.slices.size(); ++row)
    once(trace.slices.name[row], trace.slices.category[row] == SliceCategory::kPython);
  for (const StringId name : trace.gpu_ops.name) once(name, false);
}

}  // namespace

Workload WorkloadOf(const Run& run) {
  bool serves = false, trains = false;
  std::set<std::string_view> operators;
  for (const RunTrace* run_trace : run.primary())
    ForEachName(*run_trace->trace, [&](std::string_view name, bool frame) {
      if (frame) return void(serves = serves || IsEngineFrame(name));
      const Workload shows = WorkloadOfName(name);
      serves = serves || shows == Workload::kServing, trains = trains || shows == Workload::kTraining;
      if (shows == Workload::kInference) operators.insert(name);
    });
  if (serves) return Workload::kServing;
  return trains                                   ? Workload::kTraining
         : operators.size() >= kOperatorsOfAModel ? Workload::kInference
                                                  : Workload::kUnknown;
}

bool UsesPyTorch(const Run& run) {
  // Our own agent runs inside PyTorch.
  bool found = std::any_of(run.traces().begin(), run.traces().end(),
                           [](const RunTrace& run_trace) { return run_trace.trace->info.format == "agent"; });
  bool recorded = false;
  for (const RunTrace* run_trace : run.primary()) {
    // Kineto is PyTorch's profiler: rows of a device alone, as it writes them, are those of a program that uses
    // PyTorch.
    const size_t rows = run_trace->trace->slices.size() + run_trace->trace->gpu_ops.size();
    recorded = recorded || (run_trace->trace->info.format == "kineto" ? run_trace->trace->slices.size() : rows) > 0;
    const auto& category = run_trace->trace->slices.category;
    found = found || std::find(category.begin(), category.end(), SliceCategory::kOperator) != category.end();
    ForEachName(*run_trace->trace, [&](std::string_view name, bool frame) {
      found = found || name.find("at::native") != name.npos || name.starts_with("ProfilerStep#") ||
              name.starts_with("DistributedDataParallel") || IsDataLoadingMark(name) ||
              (frame && name.find("torch/") != name.npos);
    });
  }
  return found || !recorded;
}

bool UsesPipeline(const Run& run) {
  bool found = false;
  for (const RunTrace* run_trace : run.primary())
    ForEachName(*run_trace->trace, [&](std::string_view name, bool frame) {
      found = found || (frame && name.find("transformers/pipelines/") != name.npos);
    });
  return found;
}

bool UsesOtherDevices(const Run& run) {
  bool usual = false, other = false;
  for (const RunTrace* run_trace : run.primary()) {
    for (const Vendor vendor : run_trace->trace->devices.vendor) usual = usual || vendor != Vendor::kOther;
    const SliceTable& slices = run_trace->trace->slices;
    for (size_t row = 0; row < slices.size(); ++row) {
      if (slices.category[row] != SliceCategory::kRuntime && slices.category[row] != SliceCategory::kDriver) continue;
      const std::string_view name = run_trace->trace->Text(slices.name[row]);
      const bool is_usual = name.starts_with("cu") || name.starts_with("hip") || name.starts_with("runFunction");
      (is_usual ? usual : other) = true;
    }
  }
  return other && !usual;
}

bool LacksDevicePart(const Run& run) {
  bool cut = false, has_device = false;
  for (const RunTrace* run_trace : run.primary()) {
    const Trace& trace = *run_trace->trace;
    if (trace.gpu_ops.size() > 0) return false;
    cut = cut || EndsInTheMiddle(trace);
    has_device = has_device || (trace.devices.size() > 0 && trace.slices.size() > 0) ||
                 std::ranges::any_of(trace.slices.api, [](ApiKind api) { return IsLaunch(api); });
  }
  return cut && has_device;
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

namespace {

bool IsOfNsys(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) { return of->trace->info.format == "nsys"; });
}

}  // namespace

std::string RecordDeviceCode(const Run& run) {
  if (IsOfNsys(run)) return "nsys profile --trace=cuda,nvtx,osrt …";
  return "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";
}

bool DescribesDevice(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) { return of->trace->devices.size() > 0; });
}

std::string RecordStacksCode(const Run& run) {
  if (!IsOfNsys(run)) return "torch.profiler.profile(activities=[CPU, CUDA], with_stack=True)";
  return UsesPyTorch(run) ? "nsys profile --trace=cuda,nvtx,osrt --python-sampling=true python train.py"
                          : "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --backtrace=dwarf ./program";
}

std::string PinnedCopyCode(Workload workload) {
  return workload == Workload::kTraining
             ? "DataLoader(..., pin_memory=True); batch = batch.to(device, non_blocking=True)"
             : "inputs = inputs.pin_memory().to(device, non_blocking=True)";
}

bool Trains(Tables& tables) { return AnyName(tables.Get<OperatorsRows>(), IsBackward); }

bool SeesCompiler(Tables& tables) {
  return AnyName(tables.Get<KernelsRows>(), [](std::string_view name) { return name.starts_with("triton_"); }) ||
         AnyName(tables.Get<OperatorsRows>(), [](std::string_view name) {
           return name.starts_with("CompiledFunction") || name.starts_with("Torch-Compiled Region");
         });
}

}  // namespace gapless::internal
