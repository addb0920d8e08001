// SPDX-License-Identifier: Apache-2.0
// The words and the environment that a program is started with, in the form that exec and posix_spawn take.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gapless::internal {

// Returns a variable of this process; empty if it is not set.
std::string VariableOf(const char* name);
// Returns "NAME=value" of this process and of `set`, which wins.
std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& set);
// Returns pointers to the texts, then a null. They hold as long as the texts do.
std::vector<char*> Pointers(std::vector<std::string>& texts);

}  // namespace gapless::internal
