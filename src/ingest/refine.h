// SPDX-License-Identifier: Apache-2.0
// What can be said about GPU operations only once they are linked with the operators that launched them.
#pragma once

#include "trace/trace.h"

namespace gapless::internal {

// The class of kernels whose name leaves it open, from the operator around the launch. Needs launches linked.
void RefineGpuOpClasses(Trace& trace);

}  // namespace gapless::internal
