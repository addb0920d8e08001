// SPDX-License-Identifier: Apache-2.0
// Names a recording so that a person finds the file.
#pragma once

#include <string>

#include "trace/run.h"

namespace gapless::internal {

// "a.json", or "worker0/a.json" where another recording of the run has the same file name: then the path below the
// folder of all. As recorded: not safe to print.
std::string RecordingName(const Run& run, const RunTrace& of);

}  // namespace gapless::internal
