// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gapless::internal {

// Copies the recordings of PyTorch's profiler in a run folder to the folder that TORCH_TRACE_DIR names, where tools
// look that know it. A file that is there stays. Returns what was done or failed, a sentence each; nothing without the
// variable.
std::vector<std::string> CopyToTraceFolder(const std::string& run_folder);

}  // namespace gapless::internal
