// SPDX-License-Identifier: Apache-2.0
// The time that a recorder takes from the host for each event that it records.
//
// A recorder runs on the thread whose work it records: it takes a time stamp, formats the shapes of inputs, walks the
// Python stack. None of it happens in a run that nobody records, so that a program that its GPU holds up may look as if
// its host did. The figures are orders of magnitude, not measurements of the run at hand:
//
//   Kineto, operator       0.2 µs; 0.1 more with shapes, 0.1 with memory, 2.5 with Python stacks
//   Kineto, Python call    0.8 µs; at least 0.15 in a loop that fits the caches (PyTorch 2.0 and 2.15, Python 3.11)
//   Kineto, runtime call   2 µs, of CUPTI
//   Nsight Systems         8 µs for an operator with its shapes, which emit_nvtx formats; 3 without, 1 for another
//                          range, 2 for a runtime call
//
// They come from bare runs of programs whose recordings are public. Two decoder steps of 1.4 and 0.9 ms took 2.6 and
// 2.1 ms recorded with stacks. Of three passes of a language model under emit_nvtx the figure of 8 µs is the least that
// lets the bare runs be as fast as they are. Operators of optimizers on a CPU take 0.3 µs with what recording adds, so
// that an operator without stacks costs less than that.
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace gapless::internal {

// The least and the most that an event may take, in times of the figures above.
inline constexpr double kLittleOverhead = 0.3, kMuchOverhead = 1.4;
inline constexpr double kMinPythonCallNs = 150;

// The time that recording a slice takes from its thread; 0 where the recorder is not known.
class RecordingOverhead {
 public:
  explicit RecordingOverhead(const Trace& trace);
  int64_t OfNs(SliceCategory category) const;
  bool IsKnown() const { return call_ns_ > 0; }

 private:
  int64_t operator_ns_ = 0, python_ns_ = 0, call_ns_ = 0, annotation_ns_ = 0;
};

}  // namespace gapless::internal
