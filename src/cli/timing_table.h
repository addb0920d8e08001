// SPDX-License-Identifier: Apache-2.0
// Prints what `--timings` measured (base/timings.h) on standard error.
#pragma once

namespace gapless::internal {

// Prints what `--timings` measured (base/timings.h) on standard error, the longest part first.
void PrintTimings();

}  // namespace gapless::internal
