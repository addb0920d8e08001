// SPDX-License-Identifier: Apache-2.0
// Runs a command under the agent for profile and monitor, prints the summary at its end, and returns the exit status.
//
// Messages go to standard error with "gapless: " before them, because standard output belongs to the command. The
// summary counts what the agents' rings hold, so it is there also for a command that was killed. When this runs below
// another gapless, the outer one's requests to the agent are added to the options.
#include "cli/launching.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/described_json.h"
#include "base/redact.h"
#include "base/strings.h"
#include "cli/asked_together.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "collect/child.h"
#include "collect/inside.h"
#include "report/next.h"

namespace gapless::internal {
namespace documents {

// The cost of recording, for the process that it cost most.
struct RecordingCost {
  int64_t total_ns = 0;
  double share = 0;
  int64_t agent_ns = 0, start_ns = 0;
  std::optional<int64_t> slow_steps_ns{};
  int64_t stop_ns = 0, export_ns = 0, end_ns = 0, python_ns = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&RecordingCost::total_ns>("total_ns", "ns", "all of it: the parts below"),
      Field<&RecordingCost::share>("share", "", "fraction of the steps' time and the end of the program"),
      Field<&RecordingCost::agent_ns>("agent_ns", "ns", "hooks of the agent"),
      Field<&RecordingCost::start_ns>("start_ns", "ns", "starting the profiler"),
      Field<&RecordingCost::slow_steps_ns>("slow_steps_ns", "ns",
                                           "recorded steps beyond the median of the others; missing: not known"),
      Field<&RecordingCost::stop_ns>("stop_ns", "ns", "stopping it"),
      Field<&RecordingCost::export_ns>("export_ns", "ns", "writing what it kept"),
      Field<&RecordingCost::end_ns>("end_ns", "ns", "the end of the program waited for the files"),
      Field<&RecordingCost::python_ns>("python_ns", "ns", "tracing of Python calls or lines that --python asks for"),
  };
};

// The document of a run. What the agent cost is absent if no step was seen.
struct Launch {
  std::string run{};
  int exit_status = 0, signal = 0;
  uint64_t steps = 0;
  size_t ranks = 0;
  std::optional<int64_t> agent_cost_per_step_ns{};
  std::optional<double> agent_share{};
  double recorded_step_slowdown = 0;
  std::optional<RecordingCost> recording_cost{};
  std::vector<std::string> recordings{}, summaries{}, incomplete{}, next{};
  static constexpr FieldInfo kFields[] = {
      Field<&Launch::run>("run", "", "folder of the run"),
      Field<&Launch::exit_status>("exit_status", "", "status of the command"),
      Field<&Launch::signal>("signal", "", "signal that ended it", kUnlessEmpty),
      Field<&Launch::steps>("steps", "count", "steps that were seen"),
      Field<&Launch::ranks>("ranks", "count", "processes that trained"),
      Field<&Launch::agent_cost_per_step_ns>("agent_cost_per_step_ns", "ns", "time that the agent took of a step"),
      Field<&Launch::agent_share>("agent_share", "", "fraction of the steps' time that the agent took"),
      Field<&Launch::recorded_step_slowdown>("recorded_step_slowdown", "ratio",
                                             "recorded step / other step, medians; missing: not known", kUnlessEmpty),
      Field<&Launch::recording_cost>("recording_cost", "",
                                     "what recording cost the run; missing: nothing was recorded"),
      Field<&Launch::recordings>("recordings", "", "files with recorded steps"),
      Field<&Launch::summaries>("summaries", "", "summaries of recordings", kUnlessEmpty),
      Field<&Launch::incomplete>("incomplete", "", "what is missing in the record", kUnlessEmpty),
      Field<&Launch::next>("next", "", "command lines that continue from here, the first one first", kUnlessEmpty),
  };
};

}  // namespace documents

namespace {

void Say(const std::string& text) { std::fputs(StrCat("gapless: ", RedactText(text), "\n").c_str(), stderr); }

// The figures of the summary, over all processes that train, or all that call a model if none does: of costs the worst,
// of steps the most.
struct Seen {
  uint64_t steps = 0;
  size_t ranks = 0, recordings = 0;
  int64_t agent_cost_ns = 0;
  double agent_share = 0;                          // share of step time, in the process with the highest agent cost
  double slowdown = 0;                             // median recorded step over the median of the others; 0: not known
  std::string unrecorded{};                        // the agent's reason why a recording came to nothing
  int64_t recorded_ns = 0;                         // the median recorded step of the process that was slowed down most
  std::optional<documents::RecordingCost> cost{};  // cost of recording in the process where that was largest
};

constexpr size_t kFewestSteps = 3;  // on both sides, for a median

// Compares recorded steps with the others of the same process, and keeps the process that was slowed down most.
void TakeSlowdown(const AgentProcess& process, Seen& seen) {
  if (process.recorded_steps.size() < kFewestSteps || process.other_steps.size() < kFewestSteps) return;
  const int64_t recorded_ns = process.recorded_steps.Quantile(0.5), other_ns = process.other_steps.Quantile(0.5);
  const double slowdown = other_ns > 0 ? static_cast<double>(recorded_ns) / static_cast<double>(other_ns) : 0;
  if (slowdown > seen.slowdown) seen.slowdown = slowdown, seen.recorded_ns = recorded_ns;
}

// Keeps the process that recording cost most, in parts of its time.
void TakeCost(const AgentProcess& process, Seen& seen) {
  if (!process.recording_cost.recorded()) return;
  const RecordingParts parts = process.recording_cost.Parts(static_cast<int64_t>(process.ring.header().cost_ns));
  const int64_t run_ns = wire::SumOf(process.steps_ns, parts.end_ns), total_ns = parts.Total();
  if (run_ns <= 0 || (seen.cost && seen.cost->total_ns >= total_ns)) return;
  seen.cost = {.total_ns = total_ns,
               .share = std::min(1.0, static_cast<double>(total_ns) / static_cast<double>(run_ns)),
               .agent_ns = parts.agent_ns,
               .start_ns = parts.start_ns,
               .slow_steps_ns = parts.slow_steps_ns,
               .stop_ns = parts.stop_ns,
               .export_ns = parts.export_ns,
               .end_ns = parts.end_ns,
               .python_ns = parts.python_ns};
}

// "recording cost 1.24 s, 38 % of the run: 310 ms to start the profiler, 640 ms to write its file, …"; the largest part
// comes first, and parts of less than a hundredth are left out.
std::string CostText(const documents::RecordingCost& cost) {
  std::vector<std::pair<int64_t, std::string_view>> parts = {
      {cost.agent_ns, "in hooks of the agent"},
      {cost.start_ns, "to start the profiler"},
      {cost.slow_steps_ns.value_or(0), "more in the recorded steps"},
      {cost.stop_ns, "to stop it"},
      {cost.export_ns, "to write its file"},
      {cost.end_ns, "at the end, waiting for files"},
      {cost.python_ns, "to trace Python"}};
  std::ranges::stable_sort(parts, std::ranges::greater(), [](const auto& part) { return part.first; });
  std::string text =
      StrCat("recording cost ", FormatDuration(cost.total_ns), ", ", FormatPercent(cost.share), " of the run");
  std::string_view before = ": ";
  for (const auto& [ns, what] : parts) {
    if (ns < cost.total_ns / 100 || ns == 0) continue;
    text += StrCat(before, FormatDuration(ns), ' ', what);
    before = ", ";
  }
  if (!cost.slow_steps_ns)
    text += "; how much longer the recorded steps took is not known, for there are too few others";
  return text;
}

// "overhead: the agent took 0.31 % of the steps' time; recorded steps took 1.8× as long as the others".
std::string OverheadText(const Seen& seen) {
  std::string text = StrCat("overhead: the agent took ", FormatPercent(seen.agent_share), " of the steps' time");
  if (seen.slowdown > 0)
    text += StrCat("; recorded steps took ", FormatNumber(seen.slowdown, 2), "× as long as the others (median ",
                   FormatDuration(seen.recorded_ns), ")");
  return text;
}

// Ranks are counted by their folders, which several processes of one rank may share.
Seen Count(const LaunchResult& result) {
  Seen seen;
  std::set<std::string> folders;
  const bool trains = std::ranges::any_of(result.processes, [](const auto& process) { return process->trains; });
  for (const auto& process : result.processes) {
    const wire::RingHeader& header = process->ring.header();
    if (header.role != wire::AgentRole::kTrains || header.step == 0) continue;
    seen.recordings += process->recordings.size();
    if (seen.unrecorded.empty()) seen.unrecorded = process->unrecorded;
    if (process->trains != trains) continue;
    folders.insert(process->folder);
    seen.steps = std::max(seen.steps, header.step);
    // The slowest of several ranks counts, because the others wait for it in collectives.
    seen.agent_cost_ns = std::max(seen.agent_cost_ns, static_cast<int64_t>(header.cost_ns / header.step));
    if (process->steps_ns > 0)
      seen.agent_share =
          std::max(seen.agent_share, static_cast<double>(header.cost_ns) / static_cast<double>(process->steps_ns));
    TakeSlowdown(*process, seen);
    TakeCost(*process, seen);
  }
  seen.ranks = folders.size();
  return seen;
}

// Says why there may be no steps. The agent begins with `import torch`, also to look for a function; in a process that
// it watches, it reports itself what became of the function.
void SayWhereStepsAre(const LaunchResult& result, const std::string& step_function) {
  if (step_function.empty())
    return Say(
        "steps are seen where PyTorch optimises, or a model is called again and again, in a Python that reads "
        "PYTHONPATH; elsewhere name the function that is one iteration, --step-function train.py:train_step, or call "
        "gapless.step() at the end of each iteration, after `import gapless`");
  if (!result.processes.empty()) return;
  Say(StrCat("cannot count the calls of --step-function ", Printable(step_function),
             ": no Python process of the command imported PyTorch, and steps are counted in processes that do; check "
             "that the command starts the Python that has PyTorch"));
}

std::string WhyNothingWasRecorded(const Seen& seen, const WatchPlan& plan) {
  const uint64_t needed =
      uint64_t{1} + static_cast<uint64_t>(plan.agent.record.wait) + static_cast<uint64_t>(plan.agent.record.warmup);
  if (!seen.unrecorded.empty()) return StrCat("nothing was recorded: ", Printable(seen.unrecorded));
  if (seen.steps >= needed) return "nothing was recorded: the recorder did not answer before the command ended";
  return StrCat("nothing was recorded: that takes ", needed, " steps or more; lower --wait and --warmup");
}

std::vector<std::string> NextOf(const LaunchResult& result) {
  return NextLines(After::kRecording, {.command = result.manifest.command, .path = ShellWord(result.folder)});
}

// Says what was seen and the next command. Without a step it says where steps are seen, unless the command itself kept
// the agent out or the record is not complete, which was said before.
void Summarize(const LaunchResult& result, const WatchPlan& plan, const std::string& step_function) {
  const Seen seen = Count(result);
  const bool is_complete = result.manifest.incomplete.empty();
  for (const auto& process : result.processes)
    for (const std::string& message : process->messages) Say(StrCat(process->folder, ": ", Printable(message)));
  for (const std::string& missing : plan.missing) Say(missing);
  if (seen.steps == 0) {
    Say(StrCat(result.folder, is_complete ? ": no training step was seen" : ": no training step was recorded"));
    if (is_complete && KeepsAgentOut(result.manifest.command).empty()) SayWhereStepsAre(result, step_function);
    return;
  }
  std::string text = StrCat(result.folder, ": ", FormatCount(static_cast<int64_t>(seen.steps)), " steps");
  if (seen.ranks > 1) text += StrCat(" on ", seen.ranks, " ranks");
  if (seen.recordings > 0) text += StrCat(", ", seen.recordings, seen.recordings == 1 ? " recording" : " recordings");
  Say(text);
  Say(OverheadText(seen));
  if (seen.cost) Say(CostText(*seen.cost));
  if (plan.agent.record.on && seen.recordings == 0) Say(WhyNothingWasRecorded(seen, plan));
  Say(StrCat("next: ", NextOf(result).front()));
}

// The missing parts of the record are also the document's warnings.
std::string ResultJson(const LaunchResult& result, const Afterwards& done, std::string_view command) {
  const Seen seen = Count(result);
  documents::Launch document{.run = result.folder,
                             .exit_status = result.exit_status,
                             .signal = result.signal,
                             .steps = seen.steps,
                             .ranks = seen.ranks,
                             .recorded_step_slowdown = seen.slowdown,
                             .incomplete = result.manifest.incomplete};
  if (seen.steps > 0) document.agent_cost_per_step_ns = seen.agent_cost_ns;
  if (seen.steps > 0) document.agent_share = seen.agent_share;
  if (seen.steps > 0) document.next = NextOf(result);
  document.recording_cost = seen.cost;
  for (const auto& process : result.processes)
    for (const std::string& file : process->recordings)
      if (std::string below = StrCat(process->folder, "/", file); !done.removed.contains(below))
        document.recordings.push_back(std::move(below));
  document.summaries = done.summaries;
  return DocumentOf(command, document, document.incomplete);
}

}  // namespace

constinit const TypeInfo kLaunchDocument = describe::MakeType<documents::Launch>();

// An error that is returned is one of our own usage; a command that could not be started is reported here, with the
// status that a shell gives for it.
Result<int> RunWatched(const LaunchArguments& arguments, const WatchPlan& plan) {
  if (arguments.command.empty())
    return Fail(ErrorCode::kUsage, "cannot run: no command given", "",
                "write the command after --: -- python train.py");
  const std::string kept_out = KeepsAgentOut(arguments.command);
  if (!kept_out.empty() && !arguments.quiet) Say(kept_out);

  LaunchOptions options;
  options.command = arguments.command;
  options.folder = arguments.output;
  AgentOptions agent = plan.agent;
  agent.step_function = arguments.step_function;
  // Run below another gapless: its measurements must not be lost because our agent replaces its own.
  if (const auto around = FindRunAround()) AskForTheOneAround(around->agent_options, agent);
  options.agent_options = ToJson(agent);
  options.cupti_always = arguments.cupti;
  options.shared_folder = arguments.shared_folder;
  options.telemetry_hz = arguments.hz;
  options.output_to_stderr = arguments.JsonToStdout();
  options.missing = plan.missing;
  options.watchers = plan.watchers;
  int failure_status = 0;
  const auto result = internal::Launch(options, &failure_status);
  if (!result) {
    std::fputs(DescribeError(result.error()).c_str(), stderr);
    if (arguments.JsonToStdout()) GAPLESS_TRY(WriteFile("", ErrorAsJson(result.error(), failure_status)));
    return failure_status;
  }
  Afterwards done;
  if (plan.afterwards) done = plan.afterwards(*result);
  // The missing parts come first: they are the cause of what the summary does not have.
  const int status = StatusOf(*result);
  if (!arguments.quiet) {
    for (const std::string& sentence : done.said) Say(Printable(sentence));
    Summarize(*result, plan, arguments.step_function);
  }
  if (arguments.json) GAPLESS_TRY(WriteFile(*arguments.json, ResultJson(*result, done, plan.verb)));
  return status;
}

// A failure of the command is never replaced by ours.
int StatusOf(const LaunchResult& result) {
  const std::vector<std::string>& missing = result.manifest.incomplete;
  if (missing.empty()) return result.exit_status;
  const Error error{ErrorCode::kEnvironment, StrCat("the record is not complete: ", Join(missing, "; ")), result.folder,
                    StrCat("what is there can be read: gapless analyze ", ShellWord(result.folder),
                           "; for all of it, make room, or name a folder elsewhere with -o")};
  std::fputs(DescribeError(error).c_str(), stderr);
  return result.exit_status != 0 ? result.exit_status : kOwnFailure;
}

}  // namespace gapless::internal
