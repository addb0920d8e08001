// SPDX-License-Identifier: Apache-2.0
// The program: finds the verb, parses, runs, reports the failure, gives the exit status.
#pragma once

namespace gapless::internal {

int RunProgram(int argc, char** argv);

}  // namespace gapless::internal
