// SPDX-License-Identifier: Apache-2.0
// The command `gapless run`: applies the fixes of a recipe to a command, reports the effect of each, and warns about
// differences of command, PyTorch or machine. --print writes the equivalent command without gapless.
//
// A recipe may come from somebody else: it names fixes of the catalogue and variables that these set, and no code. The
// command in it is shown, and runs only with --with-command.
// Fixes are switched on by variables of the environment where that is enough, and by the agent in the training
// processes otherwise. Below another gapless no folder is made: the recipe's request is merged with that of the outer
// command (asked_together.h), whose agent then does the work. The exit status is the command's own; failures of gapless
// are 125.
//
// The line of --print for a recipe that the environment alone can do:
//
//   OMP_NUM_THREADS=4 python train.py --name 'a b'
#include <cstdio>
#include <optional>

#include "base/redact.h"
#include "base/strings.h"
#include "cli/asked_together.h"
#include "cli/command.h"
#include "cli/commands/run/document.h"
#include "cli/commands/run/fix_watch.h"
#include "cli/commands/run/plan.h"
#include "cli/failure.h"
#include "cli/launching.h"
#include "cli/output.h"
#include "collect/files.h"
#include "collect/inside.h"

namespace gapless::internal::run_command {
namespace {

void Say(const std::string& text) {
  std::fputs(StrCat("gapless: ", RedactText(Printable(text)), "\n").c_str(), stderr);
}

// Returns a line for a shell, the variables before the command.
std::string WithoutGapless(const RunPlan& plan) {
  std::string line;
  for (const auto& [name, value] : plan.use.environment) line += StrCat(name, "=", ShellWord(value), " ");
  return StrCat(line, VisibleCommand(RedactCommand(plan.command)), "\n");
}

// Prints the line of --print; the exit status is 1 if it lacks fixes of the recipe.
Result<int> Print(const RunArguments& arguments, const RunPlan& plan) {
  const auto missing = NeedGapless(plan);
  if (!arguments.quiet) {
    for (const std::string& note : plan.use.notes) Say(note);
    if (RedactCommand(plan.command) != plan.command)
      Say("secrets are left out of the command; --keep-command prints them");
    if (!missing.empty())
      Say(StrCat("not in it: ", Join(missing, ", "),
                 "; gapless run switches these on, or the patch of gapless optimize"));
  }
  auto printed = PrintTextOrJson(
      arguments, [&] { return WithoutGapless(plan); }, [&] { return PrintedJson(plan); });
  if (!printed) return printed;
  return missing.empty() ? 0 : 1;
}

// Says what will be done, and each difference from what the recipe was made on: a difference never stops the run.
void SayBefore(const RunPlan& plan) {
  if (plan.of_recipe) Say(StrCat("the command of the recipe: ", VisibleCommand(RedactCommand(plan.command))));
  if (plan.use.fixes.empty() && plan.use.environment.empty() && plan.use.own_fixes.empty())
    Say("nothing differs: no fix of the recipe is on, the command runs as it is");
  const std::string kept_out = KeepsAgentOut(plan.command);
  if (!kept_out.empty()) Say(kept_out);
  for (const std::string& note : plan.use.notes) Say(note);
  if (!plan.recipe.proved)
    Say(StrCat(plan.path, " is a candidate: nothing proves that all of its fixes together are faster"));
  for (const std::string& path : plan.use.own_fixes) Say(StrCat("a fix of your own: ", path));
  for (const auto& [name, value] : plan.use.environment) Say(StrCat(name, "=", value));
  for (const std::string& difference : Differences(plan.recipe, plan.command, DescribeHost())) Say(difference);
}

// Says which fixes no process reported.
void SayAfter(const RunPlan& plan, const LaunchResult& result, const FixWatch& watch) {
  for (const auto& process : result.processes)
    for (const std::string& message : process->messages) Say(StrCat(process->folder, ": ", message));
  // If no training reported, only fixes that need the agent can be missing; those set by the environment are applied.
  const auto unreported = watch.Unreported(watch.saw_training() ? plan.use.fixes : NeedGapless(plan));
  if (unreported.empty()) return;
  const std::string items = Join(unreported, ", ");
  Say(watch.saw_training() ? StrCat("nothing was heard of ", items)
                           : StrCat("no training with PyTorch was seen, so these are not on: ", items));
}

// Returns the launch options that both launches below share.
LaunchOptions OptionsFrom(const RunArguments& arguments, const RunPlan& plan, FixWatch& watch) {
  return {.command = plan.command,
          .environment = plan.use.environment,
          .shared_folder = arguments.shared_folder,
          .output_to_stderr = arguments.JsonToStdout(),
          .watchers = {&watch}};
}

// Reports the end of the run, or why the command could not be started, and returns the exit status.
Result<int> Finish(const RunArguments& arguments, const RunPlan& plan, const FixWatch& watch,
                   const Result<LaunchResult>& result, int failure_status) {
  if (!result) {
    std::fputs(DescribeError(result.error()).c_str(), stderr);
    if (arguments.JsonToStdout()) GAPLESS_TRY(WriteFile("", ErrorAsJson(result.error(), failure_status)));
    return failure_status;
  }
  if (!arguments.quiet) SayAfter(plan, *result, watch);
  if (arguments.json) GAPLESS_TRY(WriteFile(*arguments.json, ResultJson(plan, *result, watch)));
  return result->exit_status;
}

// Runs below another gapless, which sees the steps as those of the bare command: no folder of its own.
Result<int> ExecuteInside(const RunArguments& arguments, RunPlan& plan, RunAround& around) {
  const bool quiet = arguments.quiet;
  const AskedTogether asked =
      AskTogether(around.agent_options, plan.use.fixes, plan.use.own_fixes, arguments.step_function);
  // From here on the plan holds only what this command really asks for.
  plan.use.fixes = asked.fixes;
  for (const std::string& item : asked.replaced)
    plan.use.notes.push_back(StrCat(item, " is left out: the gapless around this one tries another value of it"));
  if (!arguments.output.empty())
    plan.use.notes.push_back(StrCat("no folder is left at ", arguments.output,
                                    ": this runs inside another gapless, whose folder is ", around.folder));
  if (!quiet) SayBefore(plan);
  FixWatch watch(plan.recipe, [quiet](const std::string& sentence) {
    if (!quiet) Say(sentence);
  });
  LaunchOptions options = OptionsFrom(arguments, plan, watch);
  options.agent_options = asked.agent_options;
  int failure_status = 0;
  const auto result = LaunchInside(around, options, &failure_status);
  return Finish(arguments, plan, watch, result, failure_status);
}

// Runs the command with the light agent, which only switches the fixes and counts steps. Without -o its folder is a
// temporary one.
Result<int> Execute(const RunArguments& arguments, Session& /*session*/) {
  GAPLESS_ASSIGN(auto plan, RunPlanFrom(arguments));
  if (arguments.print) return Print(arguments, plan);
  if (auto around = FindRunAround()) return ExecuteInside(arguments, plan, *around);
  const bool quiet = arguments.quiet;
  std::optional<TemporaryFolder> temporary;
  std::string folder = arguments.output;
  if (folder.empty()) {
    GAPLESS_ASSIGN(auto made, TemporaryFolder::Make());
    temporary.emplace(std::move(made));
    folder = temporary->path();
  }
  if (!quiet) SayBefore(plan);
  AgentOptions agent;
  agent.mode = AgentMode::kLight;
  agent.record.on = false;
  agent.fixes = plan.use.fixes;
  agent.own_fixes = plan.use.own_fixes;
  for (const auto& [name, value] : plan.use.environment) agent.fix_environment.push_back(name);
  agent.step_function = arguments.step_function;
  FixWatch watch(plan.recipe, [quiet](const std::string& sentence) {
    if (!quiet) Say(sentence);
  });
  LaunchOptions options = OptionsFrom(arguments, plan, watch);
  options.folder = folder;
  options.agent_options = ToJson(agent);
  int failure_status = 0;
  const auto result = Launch(options, &failure_status);
  auto status = Finish(arguments, plan, watch, result, failure_status);
  // An incomplete record matters only if the user asked for the folder.
  return result && status && !temporary ? StatusOf(*result) : std::move(status);
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Run>::kInfo, &TypeOf<documents::PrintedRun>::kInfo};
constexpr Example kExamples[] = {
    {"gapless run --recipe optimized.json -- python train.py", "Trains with the fixes on"},
    {"gapless run --recipe optimized.yaml --with-command", "Runs the command that the recipe was made for"},
    {"gapless run --recipe optimized.json --without compile -- python train.py", "All fixes but one"},
    {"gapless run --recipe optimized.json --print", "What the environment alone can do, as a line for a shell"},
};

}  // namespace

COMMAND(run) = {
    .name = "run",
    .place = {groups::kFix, 4},
    .help = "Run a command with the fixes of a recipe",
    .about =
        "Runs the command with the fixes that `gapless optimize` accepted. The script is not edited; its "
        "output, signals and exit status stay its own. Standard error lists what each fix changed, or why it "
        "did not, and any difference of the command, PyTorch or the machine from those of the recipe. A "
        "recipe applies built-in fixes only and loads no code: --fix gives the file of your own "
        "fix. Its command is text of whoever wrote the recipe: without a command of your own it is shown, and run "
        "with --with-command only.\n\nWith --print nothing is run: the exit "
        "status is then 0 if the printed line has all fixes of the recipe, and 1 if some are "
        "missing.\n\nBelow another gapless (`gapless validate -- CMD -- gapless run --recipe optimized.json "
        "-- CMD`, and also `bench`, `compare`, `gate`, `profile`) the outer one measures the steps of the "
        "command as if it ran the command itself.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .own_failure = 125,
    .call = kCall<Execute>};

}  // namespace gapless::internal::run_command
