// SPDX-License-Identifier: Apache-2.0
// Finds the execution traces of PyTorch that lie beside Kineto traces or were named with them. They have no times, so
// they are no recordings; they are read together with the one of the same process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/input_paths.h"

namespace gapless::internal {

// Does the (decompressed) input start like an execution trace?
bool IsExecutionTrace(std::string_view head);

// Gives Kineto traces among the inputs their execution traces: those among the inputs, which are then no inputs any
// more, and those in the folder of the recording whose name says so ("et", "execution_trace", "chakra").
void PairExecutionTraces(std::vector<InputPath>& inputs);

}  // namespace gapless::internal
