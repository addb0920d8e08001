// SPDX-License-Identifier: Apache-2.0
// Running another tool and waiting for it. Everything in collect/nsight takes this as a function, so that a launcher
// can give its own (which forwards signals) and a test a script.
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

// Gives the exit status (128 + N for signal N). An error when the program cannot be started.
using RunProcess = std::function<Result<int>(const ProcessRequest&)>;
// Finds the file of a program; "" if it is not installed.
using FindTool = std::function<std::string(std::string_view name)>;

// Runs it and waits.
Result<int> RunAndWait(const ProcessRequest& request);

}  // namespace gapless::internal
