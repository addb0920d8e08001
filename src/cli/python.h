// SPDX-License-Identifier: Apache-2.0
// The Python that serves the few things that the program leaves to packages of Python.
#pragma once

#include <string>

namespace gapless::internal {

// Returns what GAPLESS_PYTHON names; else the interpreter beside the program, where both were installed together; else
// "python3", which is looked up in PATH.
std::string PythonToUse();

}  // namespace gapless::internal
