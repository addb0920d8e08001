// SPDX-License-Identifier: Apache-2.0
// Derives columns of GPU operations that are already linked with the operators that launched them. All functions change
// the trace in place; readers call them after the builder has finished.
#pragma once

#include "trace/trace.h"

namespace gapless::internal {

// The class of kernels whose name leaves it open, from the operator around the launch. Needs launches linked.
void RefineGpuOpClasses(Trace& trace);

// Finds the launches in recordings of Ascend's devices, whose calls and operations share no number. An arrow ends where
// an operation starts on its stream; the launch is the slice that is open on the thread where the arrow begins. A call
// may go through the queue between host and device. Then the launch is the slice of the thread that takes it out of the
// queue, and the operator is that of the thread which put it in.
void LinkByArrows(Trace& trace);

// Blocks of each kernel's grid over the multiprocessors of its device, where the recorder wrote the grid alone. NVIDIA
// only: on others a grid may be counted in work items.
void FillBlocksPerSm(Trace& trace);

}  // namespace gapless::internal
