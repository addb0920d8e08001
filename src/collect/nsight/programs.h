// SPDX-License-Identifier: Apache-2.0
// Functions that both of Nsight's tools need: finding them, making room for their files, keeping our own collectors
// out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/nsight/run_process.h"

namespace gapless::internal {

// Returns a command or address to install a missing tool; "" for unknown tools.
std::string_view HowToGet(std::string_view tool);

// The tool's file: from `find`, or from PATH when that is empty. An error says how to get it.
Result<std::string> FindNsight(std::string_view tool, const FindTool& find);

// Makes the folder that `path` lies in.
Result<void> MakeFolderOf(const std::string& path);

// Returns true if the file exists and is not empty: a tool that failed may leave an empty one.
bool IsWritten(const std::string& path);

// The environment in which nothing of ours is switched on.
inline const std::vector<std::pair<std::string, std::string>> kWithoutOurs = {{"GAPLESS_DISABLE", "1"}};

}  // namespace gapless::internal
