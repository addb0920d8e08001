// SPDX-License-Identifier: Apache-2.0
// Rows of events whose lane says what they are: those of TensorFlow, JAX and rocprof.
#include <algorithm>
#include <cctype>
#include <string>

#include "base/strings.h"
#include "ingest/readers/kineto/event_rows.h"

namespace gapless::internal::kineto {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Loops and branches of XLA hold the operations that run in them.
bool HoldsOthers(std::string_view name) {
  for (const std::string_view of : {"while", "conditional", "call"})
    if (name.starts_with(of) && (name.size() == of.size() || name[of.size()] == '.')) return true;
  return false;
}

Category CategoryOnDevice(std::string_view name, LaneKind kind) {
  const std::string lower = LowerCase(name);
  if (lower.find("memset") != lower.npos) return Category::kMemset;
  const bool is_copy = lower.starts_with("memcpy") || lower.find("memcpyh") != lower.npos ||
                       lower.find("memcpyd") != lower.npos || kind == LaneKind::kCopies;
  return is_copy ? Category::kMemcpy : HoldsOthers(name) ? Category::kGpuAnnotation : Category::kKernel;
}

// "cuLaunchKernel", "cudaMemcpyAsync", "hipMemcpy".
bool IsCallOfRuntime(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip"})
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        std::isupper(static_cast<unsigned char>(name[prefix.size()])) != 0)
      return true;
  return name.starts_with("hsa_");
}

Category CategoryOnHost(std::string_view name, LaneKind kind, bool is_step) {
  if (kind == LaneKind::kMarks || is_step || IsStepName(name)) return Category::kAnnotation;
  if (kind == LaneKind::kRuntime || IsCallOfRuntime(name)) return Category::kRuntime;
  // Python functions ("$api.py:120 jit") are no sign of Python's work: a wait for the device looks the same.
  return name.starts_with('$') ? Category::kOther : Category::kOperator;
}

}  // namespace

// "step 12", "train_step", "ProfilerStep#3", "train 7": a step and its number, nothing else.
bool IsStepName(std::string_view name) {
  name = name.substr(0, name.find_last_not_of("0123456789") + 1);
  const bool is_numbered = name.ends_with(' ');
  name = name.substr(0, name.find_last_not_of(" _#:") + 1);
  const std::string lower = LowerCase(name);
  for (const std::string_view step : {"step", "train step", "train_step", "training step", "training_step",
                                      "profilerstep", "stepmarker", "iteration"})
    if (lower == step) return true;
  return is_numbered && lower == "train";
}

void EventRows::AddOfLane(const EventFields& event, int64_t ts, int64_t dur) {
  const Lane lane = lanes_->Of(texts_.ProcessOf(event.pid), texts_.ThreadOf(event.tid));
  const std::string_view name = TokenText(event.name);
  if (lane.kind == LaneKind::kLeftOut) return;
  if (lane.kind == LaneKind::kSteps) return AddStep(event, name, ts, dur);
  EventFields of_lane = event;
  const bool on_device =
      lane.kind == LaneKind::kDevice || lane.kind == LaneKind::kCopies || lane.kind == LaneKind::kModules;
  if (!on_device) {
    const bool is_step = event.step_number != kAbsent && !lanes_->has_steps();
    const Category category = CategoryOnHost(name, lane.kind, is_step);
    if (is_step || (category == Category::kAnnotation && !lanes_->has_steps() && name.starts_with("train ")))
      return AddStep(event, is_step ? std::to_string(event.step_number) : name.substr(6), ts, dur);
    return AddSlice(of_lane, category, ts, dur);
  }
  // Only copies of rocprof name their device themselves.
  if (of_lane.device == kAbsent || lane.kind != LaneKind::kCopies) of_lane.device = lane.device;
  if (of_lane.stream == kAbsent) of_lane.stream = lane.stream;
  if (lane.kind == LaneKind::kModules) return AddGpuAnnotation(of_lane, ts, dur);
  const Category category = CategoryOnDevice(name, lane.kind);
  if (category == Category::kGpuAnnotation) return AddGpuAnnotation(of_lane, ts, dur);
  AddGpuOp(of_lane, category, ts, dur);
}

// Adds a mark of a step, as other recorders write them.
void EventRows::AddStep(const EventFields& event, std::string_view number, int64_t ts, int64_t dur) {
  SliceRow row{.name = shard_.Text(StrCat("step ", number)),
               .pid = texts_.ProcessOf(event.pid),
               .tid = texts_.ThreadOf(event.tid),
               .ts_ns = ts,
               .dur_ns = dur};
  row.category = SliceCategory::kAnnotation;
  shard_.Add(row);
}

}  // namespace gapless::internal::kineto
