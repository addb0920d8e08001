// SPDX-License-Identifier: Apache-2.0
// The part of a recording without steps that shows the program at its steady work: without idle edges (SteadySpan), or
// where it repeats the same work at its usual pace (RepeatedSpan).
//
// Edges. A recorder is often switched on before the work begins and off after it has ended: a server waits for its
// first request, a script copies its inputs and then loads a model. One kernel, then half a second of nothing, then a
// thousand kernels without a gap is not a device that idles for half of the time. An edge is excluded if
//   - the work before (after) its gap is at most 2 % of all device work,
//   - the gap is at least 5 % of the recording and 1 ms, and
//   - the gap is more than three times as long as any gap in what remains: a pause that comes again belongs to the
//   work.
// Figures: ours, chosen on recordings of servers. Their gaps at the edge were 149 and 493 ms, and none inside was
// longer than 14 µs.
//
// Repetitions. A program that copies its weights, runs one slow forward pass, and then repeats a fast one is not a slow
// program. Repetitions are found in the order of the operations on the busiest stream: a period is a number of
// operations after which the same names come again, and the longest stretch that keeps one period is what the program
// repeats. A repetition begins behind the longest pauses that the period has. Repetitions at either end that take more
// than half as long again as the fastest quarter are a start or an end, and so is everything before and behind the
// stretch.
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

// Returns the part of `whole` that remains without its edges. `busy`: when any device works, within `whole`; empty: all
// of it remains.
Interval SteadySpan(const Intervals& busy, Interval whole);

// The fewest repetitions that make something what the program repeats, and its fewest operations. Of 32 operations or
// more, of which one repetition may be slow, one at the usual pace less is enough.
struct LeastRepeated {
  size_t repetitions = 3, operations = 1;
};

// Returns the part of `whole` with the repetitions, or nothing where nothing repeats as often. `busy`: when any device
// works, as DeviceWork() says.
std::optional<Interval> RepeatedSpan(const Trace& trace, const Intervals& busy, Interval whole,
                                     LeastRepeated least = {});

}  // namespace gapless::internal
