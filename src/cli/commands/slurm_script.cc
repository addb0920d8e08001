// SPDX-License-Identifier: Apache-2.0
// The command `gapless slurm-script`: a script that hands a job to Slurm, an array that summarises recordings and a job
// behind it that analyses the summaries. The nodes need the program alone.
#include "base/strings.h"
#include "cli/array_job.h"
#include "cli/output.h"

namespace gapless::internal::slurm_script_command {
namespace {

constexpr int64_t kMostTasks = 1000;  // of an array: MaxArraySize is 1001 where nobody changed it

struct SlurmScriptArguments : ArrayArguments {
  std::string report = "report.html", time{}, partition{}, account{};
  static constexpr OptionList kOptions{
      Text<&ArrayArguments::output>("FILE", "Write the script to FILE").Short('o'),
      kArrayRanksOption,
      kArraySummariesOption,
      Text<&SlurmScriptArguments::report>("FILE",
                                          "Write the report to FILE, in the format of its extension (report.html)"),
      Number<&ArrayArguments::per_task>("N", "Give each task N ranks (as many as an array of 1,000 needs)", 1,
                                        1'000'000),
      kArrayCpusOption,
      Text<&ArrayArguments::mem>("SIZE", "Ask for SIZE of memory a task, as sbatch takes it: 4G"),
      Text<&SlurmScriptArguments::time>("TIME", "Ask for TIME a task, as sbatch takes it: 30, 1:00:00"),
      Text<&SlurmScriptArguments::partition>("NAME", "Submit to this partition"),
      Text<&SlurmScriptArguments::account>("NAME", "Charge this account"),
  };
  static constexpr WordList kWords{kArrayPathsWord};
};

// Slurm replaces what stands behind "%" in the name of an output.
std::string WithoutPatterns(std::string_view path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

bool IsRemote(std::string_view place) { return place.find("://") != place.npos; }

// The options that both jobs have.
std::string ResourceWords(const SlurmScriptArguments& arguments, std::string_view log) {
  std::string words = StrCat(" --cpus-per-task=", arguments.cpus);
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) words += StrCat(" ", option, "=", ShellWord(value));
  };
  add("--mem", arguments.mem);
  add("--time", arguments.time);
  add("--partition", arguments.partition);
  add("--account", arguments.account);
  if (!IsRemote(arguments.summaries))
    add("--output", StrCat(WithoutPatterns(arguments.summaries), arguments.summaries.ends_with('/') ? "" : "/", log));
  return words;
}

std::string ScriptOf(const SlurmScriptArguments& arguments, const ArrayJob& job) {
  std::string text =
      "#!/bin/sh\n"
      "# Submits an array of tasks that summarise recordings, and a job that analyses the summaries when all have "
      "ended.\n"
      "# Run it with sh where sbatch is. The nodes need the program gapless in PATH.\n"
      "set -eu\n";
  if (!IsRemote(arguments.summaries)) text += StrCat("mkdir -p ", ShellWord(arguments.summaries), "\n");
  text += StrCat("array=$(sbatch --parsable --job-name=gapless-summarize --array=0-", job.tasks - 1,
                 ResourceWords(arguments, "slurm-%A_%a.out"), " <<'END_OF_TASK'\n#!/bin/sh\n", job.script,
                 "END_OF_TASK\n)\narray=${array%%;*}\n");
  text += StrCat("report=$(sbatch --parsable --job-name=gapless-analyze --dependency=\"afterany:$array\"",
                 ResourceWords(arguments, "slurm-%j.out"), " <<'END_OF_TASK'\n#!/bin/sh\nexec gapless analyze ",
                 ShellWord(arguments.summaries), " -o ", ShellWord(arguments.report), "\nEND_OF_TASK\n)\n");
  return text + StrCat("echo \"array $array of ", job.tasks, " tasks; job ${report%%;*} then writes \"",
                       ShellWord(arguments.report), "\n");
}

Result<int> Execute(const SlurmScriptArguments& arguments, Session&) {
  GAPLESS_ASSIGN(const auto job, ArrayJobOf(arguments, "SLURM_ARRAY_TASK_ID", kMostTasks));
  return PrintArrayScript(arguments, "slurm-script", job, ScriptOf(arguments, job));
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::ArrayScript>::kInfo};
constexpr Example kExamples[] = {
    {"gapless slurm-script 'run/rank{}.json.gz' --ranks 10000 --summaries /shared/job42 -o job42.sh",
     "Ten thousand ranks, ten a task; `sh job42.sh` submits it"},
    {"gapless slurm-script run/ --summaries /shared/job42 --mem 4G --time 30 | sh", "What is in a folder, at once"},
};

}  // namespace

COMMAND(slurm_script) = {
    .name = "slurm-script",
    .place = {groups::kJobs, 3},
    .help = "Print a script that summarises a job's ranks on Slurm",
    .about =
        "Prints a script for sh that submits two jobs with sbatch: an array whose tasks summarise the recordings where "
        "they lie, and one that analyses the summaries when all tasks have ended, whatever became of them: a rank "
        "without a summary is missing in the report. The nodes need the program alone, and a folder that all of them "
        "see. The logs of the tasks lie beside the summaries.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::slurm_script_command
