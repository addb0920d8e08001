// SPDX-License-Identifier: Apache-2.0
// The parts of a host's time in a step, by the names of its slices, and the thread that takes the steps.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace gapless::internal::host_parts {

enum class Part : uint8_t { kData, kSave, kGc, kCompile, kOptimizer, kCollective, kOperator, kParts, kNone };

// Returns the part that a slice of this name opens: loading, saving, garbage, compiling or the optimiser; else kNone.
Part PartOf(std::string_view name);

// Returns the thread on which steps are marked, else the one with most operators in them; invalid if there is no such
// thread.
ThreadId SteppingThread(const Trace& trace);

}  // namespace gapless::internal::host_parts
