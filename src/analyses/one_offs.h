// SPDX-License-Identifier: Apache-2.0
// Host work that happens once while the device waits: it loads the code of kernels at their first launch, starts
// libraries and allocators, compiles, captures graphs. A recording in which that takes most of the time shows a cold
// start, and says nothing of the steps that follow.
//
// Found are, each as far as no device works meanwhile:
//   compilation  TorchDynamo's, Inductor's and Triton's own ranges and frames
//   capture      …StreamBeginCapture to …EndCapture on one thread, and …GraphInstantiate
//   loading      …ModuleLoad…, …LibraryLoad… of 1 ms or longer
//   first_call   a launch of 1 ms or longer, or another call that neither waits nor copies and an operator by itself,
//                of 5 ms or longer that holds a call, when a quarter of the calls of that name take less than a
//                twentieth of it, or when it is the first of at most three and the others take less than a tenth; also
//                the only batch that a data loader gives (its workers start)
// A launch takes 2 to 20 µs, so a millisecond on an idle device is something else (NVIDIA's lazy loading, HIP's code
// objects); a name whose calls all take long is a habit of the program, not a beginning.
#pragma once

#include <string_view>
#include <vector>

#include "analyses/intervals.h"
#include "trace/trace.h"

namespace gapless::internal {

// Returns true if `name` is TorchDynamo's own range ("entire_frame_compile (dynamo_timed)") or the Python frame of
// TorchDynamo's, Inductor's or Triton's compiler.
inline bool IsCompilation(std::string_view name) {
  if (name.ends_with("(dynamo_timed)")) return true;
  struct Frame {
    std::string_view file, function;
  };
  constexpr Frame kFrames[] = {{"torch/_dynamo/convert_frame.py(", "): _compile"},
                               {"torch/_dynamo/convert_frame.py(", "): compile_inner"},
                               {"torch/_inductor/compile_fx.py(", "): compile_fx"},
                               {"triton/compiler/compiler.py(", "): compile"}};
  for (const Frame& frame : kFrames)
    if (name.ends_with(frame.function) && name.find(frame.file) != name.npos) return true;
  return false;
}

enum class OneOffKind : uint8_t { kCompilation, kCapture, kLoading, kFirstCall };
inline constexpr std::string_view kOneOffKindNames[] = {"compilation", "capture", "loading", "first_call"};

struct OneOff {
  OneOffKind kind;
  Interval span;
  SliceId slice;  // the call; of a capture the one that began it
};

// In order of their start; one that lies inside another is left out. `busy`: when any device works.
std::vector<OneOff> FindOneOffs(const Trace& trace, const Intervals& busy);

// When one-offs are under way and no device works.
Intervals IdleInOneOffs(const std::vector<OneOff>& one_offs, const Intervals& busy);

// When any device works, and for how long in all: one pass over the operations.
Intervals DeviceWork(const Trace& trace);
int64_t DeviceWorkNs(const Trace& trace);

}  // namespace gapless::internal
