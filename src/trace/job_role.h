// SPDX-License-Identifier: Apache-2.0
// Roles: a job of several programs (a trainer, the servers that generate what it trains on, a model that rewards it) is
// divided by what each process is for.
//
// A process has a role if somebody said it: the user (--role REGEX=NAME), the program (the key gapless.role in the
// metadata of a profile), or our agent, which reads it from Ray's actor, the name of a process that the program gave
// it, or the server that it runs. What a process only does (trains, calls models) is no role: nothing tells then that
// it is a part of the job, and trace/run.h sets it apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "trace/trace.h"

namespace gapless::internal {

// The user's word: processes in whose path, host, role, actor or program `matches` is found have the role `name`.
struct RolePattern {
  Pattern matches;
  std::string name;
};
// Reads "REGEX=NAME"; the last "=" divides. An error of the usage.
Result<RolePattern> ReadRolePattern(std::string_view text);

// A RoleChoice says how a job is divided.
struct RoleChoice {
  std::vector<RolePattern> said{};  // the first that matches counts
  std::string lead{};               // the role that is analysed; empty: the one that trains, else the largest
};

// Returns the role that is said of a recording's process; "" where nobody says one.
std::string SaidRole(const Trace& trace, const RoleChoice& choice);

}  // namespace gapless::internal
