// SPDX-License-Identifier: Apache-2.0
// Idle time of a device in which nothing was being launched, with what the host had open then.
#pragma once

#include <vector>

#include "analyses/timeline.h"

namespace gapless::internal {

struct HostIdle {
  Interval span;
  SliceId slice;           // innermost frame or annotation open in the middle; not valid: none
  bool launching = false;  // in a gap whose main cause is launching
};

// Returns the parts of idle gaps with cause `host`, in order. In a long part many frames may follow each other, and the
// one in the middle says little: there it is the innermost that covers at least half of the part.
std::vector<HostIdle> HostIdleParts(const Trace& trace, const DeviceTimeline& device);

// Returns the name of a slice; kNone for a step, which differs by number only: nothing else is open then.
StringId NameUnlessStep(const Trace& trace, SliceId slice);

}  // namespace gapless::internal
