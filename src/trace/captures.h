// SPDX-License-Identifier: Apache-2.0
// When threads captured graphs: from …StreamBeginCapture to …StreamEndCapture, and …GraphInstantiate. Nothing of what a
// thread launches meanwhile runs. A capture whose end is not recorded is ignored.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

struct Capture {
  int64_t start_ns, end_ns;
  SliceId begin;  // the call that began it
};

// Returns the captures of each thread, in order of time. Empty: no thread captured any.
std::vector<std::vector<Capture>> CapturesByThread(const Trace& trace);

}  // namespace gapless::internal
