// SPDX-License-Identifier: Apache-2.0
// The part of a recording without steps in which the device works steadily.
//
// A recorder is often switched on before the work begins and off after it has ended: a server waits for its first
// request, a script copies its inputs and then loads a model. One kernel, then half a second of nothing, then a
// thousand kernels without a gap is not a device that idles for half of the time. An edge is excluded if
//   - the work before (after) its gap is at most 2 % of all device work,
//   - the gap is at least 5 % of the recording and 1 ms, and
//   - the gap is more than three times as long as any gap in what remains: a pause that comes again belongs to the
//   work.
// Figures: ours, chosen on recordings of servers, whose gaps at the edge were 149 and 493 ms and none inside above 14
// µs.
#pragma once

#include "analyses/intervals.h"

namespace gapless::internal {

// Returns the part of `whole` that remains. `busy`: when any device works, within `whole`; empty: all of it remains.
Interval SteadySpan(const Intervals& busy, Interval whole);

}  // namespace gapless::internal
