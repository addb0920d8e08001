// SPDX-License-Identifier: Apache-2.0
// Maps names of slices to parts of a step, and picks the thread that takes the steps.
#include "analyses/host_parts.h"

#include <algorithm>
#include <map>

#include "trace/marks.h"

namespace gapless::internal::host_parts {
namespace {

bool IsFrame(std::string_view name, std::string_view file, std::string_view function) {
  return name.find(file) != name.npos && name.ends_with(function);
}

}  // namespace

Part PartOf(std::string_view name) {
  if (IsDataLoadingMark(name)) return Part::kData;
  if (name == kSaveName || IsFrame(name, "torch/serialization.py(", "): save")) return Part::kSave;
  if (name == kGarbageName || name == "<built-in function collect>" || name == "gc.collect") return Part::kGc;
  if (name.ends_with(kCompileSuffix) || IsFrame(name, "torch/_dynamo/convert_frame.py(", "): _compile"))
    return Part::kCompile;
  return name.starts_with("Optimizer.step#") ? Part::kOptimizer : Part::kNone;
}

ThreadId SteppingThread(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  std::map<uint32_t, int64_t> operators;
  for (size_t row = 0; row < slices.size(); ++row) {
    if (trace.steps.size() > 0 && !slices.step[row].valid()) continue;
    const bool is_mark =
        slices.category[row] == SliceCategory::kAnnotation && trace.Text(slices.name[row]).starts_with("ProfilerStep#");
    if (is_mark && trace.steps.size() > 0) return slices.thread[row];
    if (slices.category[row] == SliceCategory::kOperator) ++operators[slices.thread[row].value];
  }
  const auto most = std::max_element(operators.begin(), operators.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == operators.end() ? ThreadId() : ThreadId(most->first);
}

}  // namespace gapless::internal::host_parts
