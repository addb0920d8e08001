// SPDX-License-Identifier: Apache-2.0
// Tables python_time and python_functions as rules read them: which functions take the time of a step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/rows/python_time.h"

namespace gapless::internal {

struct PythonFunction {
  std::string name;       // "work() (train.py)"; "code outside of functions" where none is open
  int64_t self_ns = 0;    // in Python, of all ranks
  int64_t calls = 0;      // calls of the function's own frame
  std::string callee;     // that takes most of it; "": its own code
  int64_t callee_ns = 0;  // part of self_ns that is spent in callees
  std::string line;       // from which most of it is called; "": not known
  int64_t line_ns = 0;
  std::optional<int64_t> rank{};  // that spends nearly all of it, of several; absent: none does
};

// Returns true for time.sleep, as a recorder or a profile names it.
bool IsSleep(std::string_view callee);

// Returns true for built-in functions that run no Python but wait: for a lock, a socket, the backward pass of another
// thread, or asleep.
bool IsWaiting(std::string_view callee);

// Functions of the user's code by their time in recorded steps, most first; waiting does not count.
std::vector<PythonFunction> PythonFunctions(const PythonTimeRows& python_time);

// Returns the time asleep in recorded steps, and the line that calls most of it. Without recorded stacks, a count of
// all calls of the run replaces them: it has no line, and assumes that the recorded steps, which take `steps_ns`, sleep
// as often as the other steps. Reads tables python_time, python_functions and whole_run.
PythonFunction Asleep(Tables& tables, int64_t steps_ns);

}  // namespace gapless::internal
