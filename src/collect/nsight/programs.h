// SPDX-License-Identifier: Apache-2.0
// Functions that both of Nsight's tools need: finding and running them, making room for their files, keeping our own
// collectors out.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

struct ProcessRequest {
  std::vector<std::string> argv;                                   // argv[0] is a path
  std::vector<std::pair<std::string, std::string>> environment{};  // set besides what this process has
  std::string output_file{};  // file that receives standard output; "": the same as ours
};

// Runs a program and waits for it. Everything in collect/nsight takes this as a function, so that a launcher can give
// its own (which forwards signals) and a test a script. Returns the exit status (128 + N for signal N), or an error
// when the program cannot be started.
using RunProcess = std::function<Result<int>(const ProcessRequest&)>;
// Finds the file of a program; "" if it is not installed.
using FindTool = std::function<std::string(std::string_view name)>;

// Runs it and waits.
Result<int> RunAndWait(const ProcessRequest& request);

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
