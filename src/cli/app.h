// SPDX-License-Identifier: Apache-2.0
// The program: finds the verb, parses, runs, reports the failure, gives the exit status.
#pragma once

namespace gapless::internal {

// Runs the program and returns its exit status. No exception leaves it.
int RunProgram(int argc, char** argv);

}  // namespace gapless::internal
