// SPDX-License-Identifier: Apache-2.0
// The part of a recording without steps in which the device repeats the same work at its usual pace.
//
// A program that copies its weights, runs one slow forward pass, and then repeats a fast one is not a slow program.
// Repetitions are found in the order of the operations on the busiest stream: a period is a number of operations after
// which the same names come again, and the longest stretch that keeps one period is what the program repeats. A
// repetition begins behind the longest pauses that the period has. Repetitions at either end that take more than half
// as long again as the fastest quarter are a start or an end, and so is everything before and behind the stretch.
//
// The stretch counts if it has as many repetitions as are asked for at the usual pace that hold at least half of all
// device work; else something else is what the recording shows. And only what is slower than that is left out: where
// the device works for half as much of the time before the stretch (behind it), or more, that is another part of the
// program, such as the forward pass before a backward pass whose layers repeat.
#pragma once

#include <cstddef>
#include <optional>

#include "analyses/intervals.h"
#include "trace/trace.h"

namespace gapless::internal {

// How often something has to come again to be what the program repeats, and of how many operations it consists at
// least. Of 32 operations or more, of which one repetition may be slow, one at the usual pace less is enough.
struct LeastRepeated {
  size_t repetitions = 3, operations = 1;
};

// Returns the part of `whole` that remains, or nothing where nothing repeats as often. `busy`: when any device works,
// as DeviceWork() says.
std::optional<Interval> RepeatedSpan(const Trace& trace, const Intervals& busy, Interval whole,
                                     LeastRepeated least = {});

}  // namespace gapless::internal
