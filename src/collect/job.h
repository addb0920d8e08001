// SPDX-License-Identifier: Apache-2.0
// Detects the launchers that one job started with the same words (`srun gapless profile -o X -- …`). They share the run
// folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gapless::internal {

// A JobTask is one launcher of a job that started several.
struct JobTask {
  std::string job;   // the same for all tasks of this start of the job, and for no other
  int64_t task = 0;  // which of them we are
  int64_t tasks = 0;
  friend bool operator==(const JobTask&, const JobTask&) = default;
};

// Returns the task from the environment of Slurm, Open MPI, PMIx, PMI (MPICH, Intel MPI, Cray) or torchrun; absent if
// this launcher is alone or nothing distinguishes one start from the next. `variable` returns an environment variable,
// "" if it is not set.
std::optional<JobTask> TaskOfJob(const std::function<std::string(const char*)>& variable);
std::optional<JobTask> TaskOfJob();  // reads the environment of this process

}  // namespace gapless::internal
