// SPDX-License-Identifier: Apache-2.0
// The kind of run that the tables show, for advice that depends on it.
#pragma once

#include <string>

#include "analyses/analysis.h"
#include "trace/workload.h"

namespace gapless::internal {

// The workload that the primary recordings show together.
Workload WorkloadOf(const Run& run);
// Returns true if advice in PyTorch's words may be of use: operators were recorded, or some range, kernel or Python
// frame is PyTorch's, or nothing of the program was recorded.
bool UsesPyTorch(const Run& run);
// Returns true if a pipeline of Hugging Face's transformers ran, as Python frames show: it has a loader of its own,
// whose settings are arguments of pipeline().
bool UsesPipeline(const Run& run);

// Returns true if the calls are those of another runtime than CUDA's and HIP's: Ascend's, Cambricon's, SYCL's.
bool UsesOtherDevices(const Run& run);
// Returns true if a recording is of Intel's GPUs, as its recorder says.
bool UsesXpu(const Run& run);
// Returns true if a recording was cut off before any work of the device, which recorders write last, though a device is
// described or was launched on. Nothing can be said then of where the time goes: the host's own time may be hidden
// behind the device.
bool LacksDevicePart(const Run& run);

// Returns true if there is an operator of a backward pass. Reads table operators.
bool Trains(Tables& tables);

// Returns true if kernels ran that PyTorch's compiler wrote, or functions that it compiled. Reads tables kernels and
// operators.
bool SeesCompiler(Tables& tables);

// Returns how whoever made the recording makes one that also shows which code of the host runs: a line to type or
// paste.
std::string RecordStacksCode(const Run& run);
// Returns how whoever made the recording makes one that also holds the device's work.
std::string RecordDeviceCode(const Run& run);
// Returns what to do so that the recording has steps: in the recorder's words.
std::string MarkStepsAdvice(const Run& run, Workload workload);
// Returns true if a recording names a device of the machine.
bool DescribesDevice(const Run& run);
// Code that copies inputs from pinned memory: of a loader in training, of a tensor elsewhere.
std::string PinnedCopyCode(Workload workload);

}  // namespace gapless::internal
