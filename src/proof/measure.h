// SPDX-License-Identifier: Apache-2.0
// Measures one run of a command; returns an error with the cause if the run fails.
#pragma once

#include <string>
#include <vector>

#include "trial/run_once.h"

namespace gapless::internal {

// Runs the command once, and returns what Checked() makes of it.
Result<RunSample> RunMeasured(const RunRequest& request);
// Returns the sample, or an error when the run failed, was interrupted, or measured nothing above zero.
Result<RunSample> Checked(RunSample sample, const RunRequest& request);

// Returns the error for a failed process: exit status 5, with the end of the program's output.
Unexpected FailureOf(const RunSample& sample, const RunRequest& request);

}  // namespace gapless::internal
