// SPDX-License-Identifier: Apache-2.0
// Names of formats that matter to more than one room.
#pragma once

#include <string_view>

namespace gapless::internal {

// The format of samples that another tool took of GPUs; their times are local ones or missing.
inline constexpr std::string_view kGpuSamplesFormat = "gpu_samples";
// The format in which our own agent reports what it saw of a process: its rank, if it has one, and its steps.
inline constexpr std::string_view kAgentFormat = "agent";
// The role of the process, in the agent's own words; a row of table environment.
inline constexpr std::string_view kAgentRoleKey = "agent.role", kRoleTrains = "trains", kRoleOnlyInfers = "only infers",
                                  kRoleLoads = "loads data";
// The role that a process has in a job of several programs (trace/job_role.h), the name of its Ray actor, and what it
// runs; rows of table environment, from our agent or from the metadata of a profile.
inline constexpr std::string_view kJobRoleKey = "gapless.role", kActorKey = "gapless.actor",
                                  kProgramKey = "gapless.program";
// The packages of kernels that the process could import, "liger-kernel 0.8.5, torchao 0.18.0" or "none"; from our
// agent.
inline constexpr std::string_view kPackagesKey = "gapless.packages";

}  // namespace gapless::internal
