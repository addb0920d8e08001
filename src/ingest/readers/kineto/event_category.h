// SPDX-License-Identifier: Apache-2.0
// Finds the category of an event: from the recorder's own word for it, else from its name and its process. Categories
// differ by recorder and version, and recorders of other vendors have their own: all of them are mapped to a few.
//
// The functions stand in the header because they run once for each event.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "ingest/readers/kineto/fields.h"

namespace gapless::internal::kineto {

// A Category decides which table an event goes to.
enum class Category : uint8_t {
  kNone,
  kOperator,
  kAnnotation,
  kPython,
  kRuntime,
  kDriver,
  kOverhead,
  kKernel,
  kMemcpy,
  kMemset,
  kGpuAnnotation,
  kSync,
  kTrace,
  kOther
};

// Returns the category of a token, which still has its quotes: that saves taking them off for each event. The most
// frequent categories stand first.
inline Category CategoryOf(std::string_view token) {
  struct Named {
    std::string_view token;
    Category category;
  };
  static constexpr Named kNamed[] = {{"\"cpu_op\"", Category::kOperator},
                                     {"\"python_function\"", Category::kPython},
                                     {"\"cuda_runtime\"", Category::kRuntime},
                                     {"\"kernel\"", Category::kKernel},
                                     {"\"user_annotation\"", Category::kAnnotation},
                                     {"\"Operator\"", Category::kOperator},
                                     {"\"Runtime\"", Category::kRuntime},
                                     {"\"Kernel\"", Category::kKernel},
                                     {"\"gpu_memcpy\"", Category::kMemcpy},
                                     {"\"gpu_memset\"", Category::kMemset},
                                     {"\"Memcpy\"", Category::kMemcpy},
                                     {"\"Memset\"", Category::kMemset},
                                     {"\"cuda_driver\"", Category::kDriver},
                                     {"\"gpu_user_annotation\"", Category::kGpuAnnotation},
                                     {"\"cuda_sync\"", Category::kSync},
                                     {"\"overhead\"", Category::kOverhead},
                                     {"\"Trace\"", Category::kTrace},
                                     {"\"hip_runtime\"", Category::kRuntime},
                                     {"\"hip_driver\"", Category::kDriver},
                                     {"\"xpu_runtime\"", Category::kRuntime},
                                     {"\"xpu_sync\"", Category::kSync},
                                     {"\"collective_comm\"", Category::kAnnotation},
                                     {"\"mtia_runtime\"", Category::kRuntime},
                                     {"\"privateuse1_runtime\"", Category::kRuntime},
                                     {"\"privateuse1_driver\"", Category::kDriver},
                                     {"\"operator\"", Category::kOperator},
                                     {"\"mlu_runtime\"", Category::kRuntime},
                                     {"\"mlu_memcpy\"", Category::kMemcpy},
                                     {"\"mlu_memset\"", Category::kMemset},
                                     {"\"mtia_ccp_events\"", Category::kKernel},
                                     {"\"hpu_op\"", Category::kKernel},
                                     {"\"privateuse1_kernel\"", Category::kKernel},
                                     {"\"privateuse1_memcpy\"", Category::kMemcpy},
                                     {"\"privateuse1_memset\"", Category::kMemset},
                                     {"\"xpu_driver\"", Category::kDriver},
                                     {"\"glow_runtime\"", Category::kRuntime},
                                     // of Ascend: a thread of its own takes launches out of a queue
                                     {"\"dequeue\"", Category::kRuntime}};
  for (const Named& named : kNamed)
    if (named.token == token) return named.category;
  return token.empty() ? Category::kNone : Category::kOther;
}

// Events without a category come from two recorders.
//   torch.autograd.profiler: operators are those of the process "CPU functions", and work of the device those of "CUDA
//   functions", whose thread is the device's number.
//   Ascend's: work of the device has a "Task Type" and stands on its stream, calls of the runtime are called
//   "AscendCL@…", collectives "hcom_…"; Overlap Analysis repeats both and is left out, as are waits on the device.
// Others are known by their names.
inline Category LegacyCategoryOf(const EventFields& event) {
  const std::string_view name = TokenText(event.name), task = TokenText(event.task_type);
  if (event.pid == "\"CUDA functions\"") return Category::kKernel;
  if (!task.empty()) {
    constexpr std::string_view kNoWork[] = {"WAIT", "Wait", "EVENT", "NOTIFY", "PLACE_HOLDER", "Write Value"};
    const bool works = std::none_of(std::begin(kNoWork), std::end(kNoWork),
                                    [&](std::string_view part) { return task.find(part) != task.npos; });
    return works ? Category::kKernel : Category::kTrace;
  }
  if (name.starts_with("hcom_")) return Category::kKernel;
  if (name.starts_with("AscendCL@")) return Category::kRuntime;
  for (const std::string_view layer : {"Runtime@", "Node@", "Model@", "HcclOp@"})
    if (name.starts_with(layer)) return Category::kTrace;
  for (const std::string_view part : {"Computing", "Communication", "Communication(Not Overlapped)", "Free"})
    if (name == part) return Category::kTrace;
  const bool is_operator = event.pid == "\"CPU functions\"" || name.starts_with("aten::");
  return is_operator ? Category::kOperator : Category::kNone;
}

// Returns the category of a slice. `is_annotation`: an old recorder filed an annotation under operators.
inline SliceCategory SliceCategoryOf(Category category, bool is_annotation) {
  switch (category) {
    case Category::kOperator: return is_annotation ? SliceCategory::kAnnotation : SliceCategory::kOperator;
    case Category::kAnnotation: return SliceCategory::kAnnotation;
    case Category::kPython: return SliceCategory::kPython;
    case Category::kRuntime: return SliceCategory::kRuntime;
    case Category::kDriver: return SliceCategory::kDriver;
    case Category::kOverhead: return SliceCategory::kOverhead;
    default: return SliceCategory::kOther;
  }
}

}  // namespace gapless::internal::kineto
