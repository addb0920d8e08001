// SPDX-License-Identifier: Apache-2.0
// Tests a patch on a copy of the checkout before the user gets it: it applies, each file compiles, and the program
// runs.
#pragma once

#include <string>

#include "optimize/patch.h"
#include "trial/run_once.h"

namespace gapless::internal {

struct PatchTrial {
  std::string root{};    // what the patch applies to
  RunRequest request{};  // the command as it was measured without any fix
  size_t steps = 0;      // that a run of it has at least; 0: none were seen
  double run_s = 0;      // a run of it takes
  double left_s = 0;     // time that is left; less than a run takes: the program is not run
};

// Takes files that do not apply or do not compile out of the patch, and all of them if the patched program does not
// run; their changes are in `left_out` then, with the reason. Says in `tested` what was done, or why not all of it:
// a test that cannot be made, or that the user interrupts, takes nothing away.
void CheckPatch(const PatchTrial& trial, Patch& patch);

}  // namespace gapless::internal
