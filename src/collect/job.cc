// SPDX-License-Identifier: Apache-2.0
// Detects from the environment which task of which job this process is.
//
// A start of a job has a name only where its launcher gives it one: a job's number and that of the step, the name
// space of PMIx, the address at which the ranks of torchrun meet. A name that comes again in another start
// (torchrun's port is the same unless it is asked to choose) is told apart by what else must agree: the number of
// tasks, and the task that was in the directory already (collect/entry.h).
#include "collect/job.h"

#include <charconv>
#include <initializer_list>

#include "base/strings.h"
#include "collect/exec_words.h"

namespace gapless::internal {
namespace {

using Variable = std::function<std::string(const char*)>;

// Returns a whole number that is not negative; nullopt if the variable is missing or holds anything else.
std::optional<int64_t> NumberIn(const Variable& variable, const char* name) {
  const std::string text = variable(name);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// A Launcher starts the tasks of a job, which know each other by its variables.
struct Launcher {
  const char* name;
  const char* task;
  std::initializer_list<const char*> tasks;  // the first that is set counts
  std::initializer_list<const char*> must;   // parts of the job's name that must be there
  std::initializer_list<const char*> may;    // and those that may
};

// A step of Slurm comes before what runs inside it; torchrun, which starts processes of a task, before what started it.
const Launcher kLaunchers[] = {
    {"torchrun", "RANK", {"WORLD_SIZE"}, {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"}, {"SLURM_JOB_ID"}},
    {"slurm",
     "SLURM_PROCID",
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
     {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     {"SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT"}},
    {"openmpi", "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}, {"PMIX_NAMESPACE"}, {"PMIX_SERVER_URI4"}},
    {"openmpi", "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}, {"OMPI_MCA_ess_base_jobid"}, {}},
    {"pmix", "PMIX_RANK", {"PMIX_SIZE", "SLURM_STEP_NUM_TASKS"}, {"PMIX_NAMESPACE"}, {}},
    {"pmi", "PMI_RANK", {"PMI_SIZE"}, {"PMI_JOBID"}, {}},
    {"pals", "PMI_RANK", {"PMI_SIZE"}, {"PALS_APID"}, {}},
    {"hydra", "PMI_RANK", {"PMI_SIZE"}, {"PMI_PORT"}, {}},
};

}  // namespace

// Takes the first kind of launcher whose variables are all there. A job of a single task is no job here.
std::optional<JobTask> TaskOfJob(const Variable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    const auto task = NumberIn(variable, launcher.task);
    std::optional<int64_t> tasks;
    for (const char* name : launcher.tasks)
      if (!tasks) tasks = NumberIn(variable, name);
    if (!task || !tasks || *tasks < 2 || *task >= *tasks) continue;
    std::string job = StrCat(launcher.name, " of ", *tasks);
    bool named = true;
    for (const char* name : launcher.must) {
      const std::string part = variable(name);
      named = named && !part.empty();
      job += StrCat(" ", part);
    }
    if (!named) continue;
    for (const char* name : launcher.may) job += StrCat(" ", variable(name));
    return JobTask{.job = std::move(job), .task = *task, .tasks = *tasks};
  }
  return std::nullopt;
}

std::optional<JobTask> TaskOfJob() { return TaskOfJob(VariableOf); }

}  // namespace gapless::internal
