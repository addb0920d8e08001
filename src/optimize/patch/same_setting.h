// SPDX-License-Identifier: Apache-2.0
// Finds out whether two statements of Python set the same thing.
#pragma once

#include <string>
#include <vector>

#include "optimize/patch/python_source.h"

namespace gapless::internal {

// A Setting is a call or an assignment of a name with dots, and what it sets: "torch.set_num_threads" of a call,
// "torch.backends.cudnn.benchmark" of an assignment.
struct Setting {
  std::string target{};
  bool is_call = false;
  PythonNode place{};        // the call, or the assigned name
  PythonNode statement{};    // the statement that does this and nothing else; no node: there is more in it
  bool may_not_run = false;  // stands in a branch, a loop, a handler or a class
};

// Returns the settings of a file that set what `line` sets, whatever value they give it; none if the line is not
// exactly one setting. Lambdas are left out, which may never run.
std::vector<Setting> SettingsLike(const PythonSource& source, const std::string& line);

}  // namespace gapless::internal
