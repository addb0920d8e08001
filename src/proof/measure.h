// SPDX-License-Identifier: Apache-2.0
// One measured run of a command, or the reason why there is none.
#pragma once

#include <string>
#include <vector>

#include "trial/process_run.h"

namespace gapless::internal {

// Runs it once, and gives what Checked() gives.
Result<RunSample> RunMeasured(const RunRequest& request);
// An error when it failed, was interrupted, or measured nothing above zero.
Result<RunSample> Checked(RunSample sample, const RunRequest& request);

// What a failed process means for the verb: exit status 5, with the end of what the program said.
Unexpected FailureOf(const RunSample& sample, const std::vector<std::string>& command);

}  // namespace gapless::internal
