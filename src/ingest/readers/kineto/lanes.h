// SPDX-License-Identifier: Apache-2.0
// Events of TensorFlow, JAX and rocprof have no category that a profiler of PyTorch writes. The names of processes
// and threads say what stands there: a stream of a device, calls of the runtime, operators of the host, steps.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "trace/builder.h"

namespace gapless::internal::kineto {

// A LaneKind is what the events of a thread are.
enum class LaneKind : uint8_t {
  kHost,     // operators of the host
  kRuntime,  // calls of the runtime
  kMarks,    // ranges that the program marks
  kDevice,   // kernels, copies and memsets
  kCopies,   // copies alone
  kModules,  // ranges of the device that hold other rows
  kSteps,    // one row for each step
  kLeftOut   // repeats what other lanes show
};

// A Lane is one thread of the file, and the device and stream that it shows.
struct Lane {
  LaneKind kind = LaneKind::kHost;
  int32_t device = kAbsent32;
  int64_t stream = kAbsent;
};

// A LaneRecorder is the program whose lanes are known.
enum class LaneRecorder : uint8_t { kNone, kTensorFlow, kXla, kRocprof };

// A Lanes object knows each lane of a file. Names are added first, in any order; Settle() then decides which lanes
// count, since some repeat others ("stream:all" beside the streams).
class Lanes {
 public:
  void NameProcess(int64_t pid, std::string_view name);
  void NameThread(int64_t pid, int64_t tid, std::string_view name);
  void Settle();

  // kNone: no name is one that these recorders give.
  LaneRecorder recorder() const { return recorder_; }
  bool has_steps() const { return has_steps_; }
  Lane Of(int64_t pid, int64_t tid) const;

 private:
  // A Process is a process of the file: for TensorFlow's timelines a lane by itself, else a device with threads.
  struct Process {
    Lane lane;
    bool has_threads = false;                          // a device whose threads are its lanes
    bool repeats_streams = false;                      // all streams, or the copies of all streams
    bool has_streams = false, has_operations = false;  // of its threads
  };
  using Thread = std::pair<int64_t, int64_t>;
  bool NameTimeline(Process& process, std::string_view name);
  bool NameRocprof(Process& process, std::string_view name);
  void SettleThread(const Thread& thread, std::string_view name, Process& process);
  void LeaveOutRepeated();
  void KeepOneStepsLane();

  LaneRecorder recorder_ = LaneRecorder::kNone;
  bool has_steps_ = false;
  std::map<int64_t, Process> processes_;
  std::map<Thread, std::string> names_;
  std::map<Thread, Lane> threads_;
};

}  // namespace gapless::internal::kineto
