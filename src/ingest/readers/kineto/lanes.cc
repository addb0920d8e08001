// SPDX-License-Identifier: Apache-2.0
// TensorFlow's timelines make a process of each stream ("/device:GPU:0/stream:13 Compute"). The profiler of TensorFlow
// 2 and JAX makes a process of each device ("/device:GPU:0") and a thread of each stream ("Stream #13(Compute)") or,
// on a TPU, of its operations ("XLA Ops"). rocprof has a process for each GPU ("GPU0"), copies ("COPY") and interface.
#include "ingest/readers/kineto/lanes.h"

#include <algorithm>
#include <charconv>

namespace gapless::internal::kineto {
namespace {

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// The number behind the first of `part` in the text; kAbsent without one.
int64_t NumberBehind(std::string_view text, std::string_view part) {
  const size_t at = text.find(part);
  if (at == text.npos) return kAbsent;
  int64_t number = kAbsent;
  std::from_chars(text.data() + at + part.size(), text.data() + text.size(), number);
  return number;
}

// The number of the device in "/device:GPU:1", "/gpu:1", "TPU:1"; kAbsent32 if the name is of no such device.
int32_t DeviceIn(std::string_view name) {
  for (const std::string_view kind : {"GPU:", "gpu:", "TPU:"})
    if (const int64_t number = NumberBehind(name, kind); number >= 0 && number < 1 << 16)
      return static_cast<int32_t>(number);
  return kAbsent32;
}

}  // namespace

void Lanes::NameProcess(int64_t pid, std::string_view name) {
  Process& process = processes_[pid];
  const int32_t device = DeviceIn(name);
  if (NameTimeline(process, name) || NameRocprof(process, name)) return;
  if (name.starts_with("/device:") && device != kAbsent32) {
    process.lane = {.kind = LaneKind::kDevice, .device = device};
    process.has_threads = true;
  } else if (!name.starts_with("/host:") && !name.starts_with("/device:")) {
    return;
  }
  if (recorder_ == LaneRecorder::kNone) recorder_ = LaneRecorder::kXla;
}

// A process of TensorFlow's timeline. What was scheduled for a device ("/job:…") is work of the host.
bool Lanes::NameTimeline(Process& process, std::string_view name) {
  const int32_t device = DeviceIn(name);
  const bool is_stream = Contains(name, "/stream:") || Contains(name, "/stream#"),
             is_copies = device != kAbsent32 && Contains(name, "/memcpy");
  if (!is_stream && !is_copies && !name.starts_with("/job:")) return false;
  recorder_ = LaneRecorder::kTensorFlow;
  if (name.ends_with(" Tensors")) process.lane.kind = LaneKind::kLeftOut;
  if (!name.ends_with(" Compute") && !is_stream) return true;
  if (!is_stream && !is_copies) return true;
  if (device == kAbsent32) {  // streams of the processor repeat what was scheduled for it
    process.lane.kind = LaneKind::kLeftOut;
    return true;
  }
  const int64_t number = NumberBehind(name, Contains(name, "/stream:") ? "/stream:" : "/stream#");
  process.lane = {.kind = is_copies ? LaneKind::kCopies : LaneKind::kDevice, .device = device, .stream = number};
  process.repeats_streams = number == kAbsent;
  return true;
}

bool Lanes::NameRocprof(Process& process, std::string_view name) {
  if (Contains(name, "CPU HIP API") || Contains(name, "CPU HSA API"))
    process.lane.kind = LaneKind::kRuntime;
  else if (Contains(name, "Markers and Ranges"))
    process.lane.kind = LaneKind::kMarks;
  else if (name == "COPY")
    process.lane.kind = LaneKind::kCopies;
  else if (const int64_t number = name.starts_with("GPU") ? NumberBehind(name, "GPU") : kAbsent;
           number >= 0 && name.substr(3).find_first_not_of("0123456789") == name.npos)
    process.lane = {.kind = LaneKind::kDevice, .device = static_cast<int32_t>(number)};
  else
    return false;
  // "GPU0" and "COPY" alone may be anybody's.
  if (process.lane.kind != LaneKind::kMarks && process.lane.kind != LaneKind::kRuntime) return true;
  recorder_ = LaneRecorder::kRocprof;
  return true;
}

void Lanes::NameThread(int64_t pid, int64_t tid, std::string_view name) { names_[{pid, tid}] = name; }

void Lanes::SettleThread(const Thread& thread, std::string_view name, Process& process) {
  Lane lane = process.lane;
  lane.stream = thread.second;
  if (name.starts_with("Stream #")) {
    if (const int64_t number = NumberBehind(name, "#"); number != kAbsent) lane.stream = number;
    process.has_streams = true;
  } else if (name == "XLA Ops" || name == "Async XLA Ops") {
    process.has_operations = true;
  } else if (name == "XLA Modules") {
    lane.kind = LaneKind::kModules;
  } else if (name == "Steps") {
    lane.kind = LaneKind::kSteps;
  } else {
    lane.kind = LaneKind::kLeftOut;
  }
  threads_[thread] = lane;
}

// Streams show what ran on a device. Where they were recorded, all other lanes of operations repeat them.
void Lanes::LeaveOutRepeated() {
  for (auto& [pid, process] : processes_) {
    const bool has_streams = std::ranges::any_of(processes_, [&of = process](const auto& entry) {
      const Process& other = entry.second;
      return other.lane.kind == LaneKind::kDevice && other.lane.device == of.lane.device && !other.repeats_streams;
    });
    if (process.repeats_streams && has_streams) process.lane.kind = LaneKind::kLeftOut;
  }
  for (auto& [thread, lane] : threads_) {
    const Process& process = processes_[thread.first];
    if (process.has_streams && !names_[thread].starts_with("Stream #") && lane.kind == LaneKind::kDevice)
      lane.kind = LaneKind::kLeftOut;
    // Without streams and operations nothing is repeated.
    if (!process.has_streams && !process.has_operations && lane.kind == LaneKind::kLeftOut)
      lane.kind = LaneKind::kDevice;
  }
}

// All devices do the same steps, so those of the first count.
void Lanes::KeepOneStepsLane() {
  const Lane* kept = nullptr;
  for (const auto& [thread, lane] : threads_)
    if (lane.kind == LaneKind::kSteps && (kept == nullptr || lane.device < kept->device)) kept = &lane;
  has_steps_ = kept != nullptr;
  for (auto& [thread, lane] : threads_)
    if (lane.kind == LaneKind::kSteps && &lane != kept) lane.kind = LaneKind::kLeftOut;
}

void Lanes::Settle() {
  for (const auto& [thread, name] : names_)
    if (const auto found = processes_.find(thread.first); found != processes_.end() && found->second.has_threads)
      SettleThread(thread, name, found->second);
  LeaveOutRepeated();
  KeepOneStepsLane();
  int32_t first = kAbsent32;  // copies of rocprof name no device: they are the only one's, or the first one's
  for (const auto& [pid, process] : processes_)
    if (process.lane.device != kAbsent32 && (first == kAbsent32 || process.lane.device < first))
      first = process.lane.device;
  for (auto& [pid, process] : processes_)
    if (process.lane.kind == LaneKind::kCopies && process.lane.device == kAbsent32)
      process.lane.device = first == kAbsent32 ? 0 : first;
}

Lane Lanes::Of(int64_t pid, int64_t tid) const {
  if (const auto found = threads_.find({pid, tid}); found != threads_.end()) return found->second;
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return {};
  Lane lane = found->second.lane;
  const bool is_shared = found->second.repeats_streams || lane.kind == LaneKind::kCopies;
  if (lane.kind == LaneKind::kDevice && lane.stream == kAbsent && !is_shared) lane.stream = tid;
  return lane;
}

}  // namespace gapless::internal::kineto
