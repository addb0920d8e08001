// SPDX-License-Identifier: Apache-2.0
// Are we one of several launchers that a job started with the same words (`srun gapless profile -o X -- …`)? Then they
// share the run folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gapless::internal {

struct JobTask {
  std::string job;   // the same for all tasks of this start of the job, and for no other
  int64_t task = 0;  // which of them we are
  int64_t tasks = 0;
  friend bool operator==(const JobTask&, const JobTask&) = default;
};

// As the environment of Slurm, Open MPI, PMIx, PMI (MPICH, Intel MPI, Cray) or torchrun says; absent where we are alone
// or nothing distinguishes one start from the next. `variable` gives an environment variable, "" where it is not set.
std::optional<JobTask> TaskOfJob(const std::function<std::string(const char*)>& variable);
std::optional<JobTask> TaskOfJob();  // reads the environment of this process

}  // namespace gapless::internal
