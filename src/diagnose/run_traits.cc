// SPDX-License-Identifier: Apache-2.0
// Finds the traits of a run by parts of names. Each distinct name of a recording is judged once.
#include "diagnose/run_traits.h"

#include <algorithm>
#include <string_view>

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

bool IsSumOfProgram(const Trace& trace) {
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == "summary") return trace.Text(trace.environment.value[row]) == "nsys";
  return false;
}

}  // namespace

Workload WorkloadOf(const Run& run) {
  WorkloadSigns signs;
  for (const RunTrace* of : run.primary()) signs.Add(*of->trace);
  return signs.workload();
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
    // Sums of other tools than PyTorch's own tell by their kernels.
    const KernelMetricTable& sums = run_trace->trace->kernel_metrics;
    if (IsSumOfProgram(*run_trace->trace)) {
      recorded = recorded || sums.size() > 0;
      for (size_t row = 0; row < sums.size() && !found; ++row)
        found = run_trace->trace->Text(sums.kernel_name[row]).find("at::native") != std::string_view::npos;
    }
    const auto& category = run_trace->trace->slices.category;
    found = found || std::find(category.begin(), category.end(), SliceCategory::kOperator) != category.end();
    found = found || AnyNameIn(*run_trace->trace, [](std::string_view name, bool frame) {
              return name.find("at::native") != name.npos || name.starts_with("ProfilerStep#") ||
                     name.starts_with("DistributedDataParallel") || IsDataLoadingMark(name) ||
                     IsEngineIteration(name) || (frame && name.find("torch/") != name.npos);
            });
  }
  return found || !recorded;
}

bool UsesPipeline(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) {
    return AnyNameIn(*of->trace, [](std::string_view name, bool frame) {
      return frame && name.find("transformers/pipelines/") != name.npos;
    });
  });
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

bool UsesXpu(const Run& run) {
  for (const RunTrace* run_trace : run.primary()) {
    const EnvironmentTable& environment = run_trace->trace->environment;
    for (size_t row = 0; row < environment.size(); ++row)
      if (run_trace->trace->Text(environment.key[row]) == "accelerator" &&
          run_trace->trace->Text(environment.value[row]) == "xpu")
        return true;
  }
  return false;
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

namespace {

bool IsOfNsys(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) { return of->trace->info.format == "nsys"; });
}

bool IsOfFramework(const Run& run, std::string_view framework) {
  return std::ranges::any_of(run.primary(), [&](const RunTrace* of) { return of->trace->info.framework == framework; });
}

}  // namespace

std::string RecordDeviceCode(const Run& run) {
  if (IsOfFramework(run, "tensorflow")) return "tf.profiler.experimental.start(\"logs\")";
  if (IsOfFramework(run, "xla")) return "jax.profiler.trace(\"logs\") or tf.profiler.experimental.start(\"logs\")";
  if (IsOfFramework(run, "rocprof")) return "rocprof --hip-trace …";
  if (IsOfNsys(run)) return "nsys profile --trace=cuda,nvtx,osrt …";
  return "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";
}

std::string MarkStepsAdvice(const Run& run, Workload workload) {
  if (workload == Workload::kServing)
    return "record with the engine's annotations (vLLM: detailed_trace_annotation), so that times are reported per "
           "iteration";
  if (IsOfFramework(run, "tensorflow") || IsOfFramework(run, "xla"))
    return "put jax.profiler.StepTraceAnnotation(\"train\", step_num=n) or tf.profiler.experimental.Trace(\"train\", "
           "step_num=n) around each step, so that times are reported per step";
  if (IsOfFramework(run, "rocprof"))
    return "put roctxRangePush(\"step\") … roctxRangePop() around each repetition and record with rocprof "
           "--roctx-trace, "
           "so that times are reported per repetition";
  if (IsOfNsys(run) && !UsesPyTorch(run))
    return "put an NVTX range (nvtxRangePush(\"step\") … nvtxRangePop()) around each repetition, so that times are "
           "reported per repetition";
  if (IsOfNsys(run))
    return "put torch.cuda.nvtx.range(\"step\") around each repetition, so that times are reported per repetition";
  return workload == Workload::kTraining
             ? "call prof.step() after every step, so that times are reported per step"
             : "put record_function(\"step\") around each repetition, so that times are reported per repetition";
}

bool DescribesDevice(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) { return of->trace->devices.size() > 0; });
}

std::string RecordStacksCode(const Run& run) {
  if (IsOfFramework(run, "tensorflow") || IsOfFramework(run, "xla"))
    return "tf.profiler.experimental.start(\"logs\", options=tf.profiler.experimental.ProfilerOptions("
           "python_tracer_level=1)); jax.profiler.trace(\"logs\")";
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
