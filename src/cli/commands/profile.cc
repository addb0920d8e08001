// SPDX-License-Identifier: Apache-2.0
// The command `gapless profile`: its options, the recorder's settings, and with --with the further runs under nsys and
// ncu.
//
// The command runs once under the agent; nsys and ncu run it again afterwards, with the agent switched off. The exit
// status is the command's own. A tool that is not installed is left out and named; with --comprehensive the run folder
// also gets tools.md and report.html.
#include <algorithm>
#include <cstdio>

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/launching.h"
#include "cli/nsight_runs.h"
#include "cli/output.h"
#include "cli/tool_report.h"
#include "cli/trace_folder.h"
#include "flows/run_summaries.h"
#include "trace/summary_file.h"

namespace gapless::internal::profile_command {
namespace {

constexpr int kMaxSteps = 1'000'000;

// The parts that are profiled, by the agent's words.
constexpr Choosable<std::string_view> kPythonProfiles[] = {
    {"sample", "sample"}, {"cprofile", "cprofile"}, {"lines", "lines"}, {"memory", "tracemalloc"}};

struct ProfileArguments : LaunchArguments, NsightOptions {
  int steps = RecordOptions{}.active, wait = RecordOptions{}.wait, warmup = RecordOptions{}.warmup,
      repeat = RecordOptions{}.repeat;
  bool no_shapes = false, no_stacks = false, memory = false, light = false, no_record = false, explicit_steps = false;
  bool summary_only = false, no_summary = false;
  std::optional<std::string_view> python{};  // as the agent calls it
  static constexpr OptionList kOptions{
      kRunFolderOption,
      kSharedFolderOption,
      Number<&ProfileArguments::steps>("N", "Record N steps with PyTorch's profiler (6)", 1, kMaxSteps),
      Number<&ProfileArguments::wait>("N", "Skip N steps first, so that compilation and tuning are not recorded (5)", 0,
                                      kMaxSteps),
      Number<&ProfileArguments::warmup>("N", "Warm the profiler up for N steps, which are discarded (3)", 0, kMaxSteps),
      Number<&ProfileArguments::repeat>("N", "Skip, warm up and record N times (1)", 1, kMaxSteps),
      Flag<&ProfileArguments::no_shapes>("Do not record operator shapes: lower cost, no FLOPs"),
      Flag<&ProfileArguments::no_stacks>("Do not record Python calls: lower cost, no source lines"),
      Flag<&ProfileArguments::memory>("Record allocations and a snapshot of PyTorch's allocator in addition"),
      Choice<&ProfileArguments::python, OneOf<kPythonProfiles>>("HOW",
                                                                "Profile the Python code, in workers too (by sampling)")
          .Optional(),
      Flag<&ProfileArguments::light>("Record only steps, samples and waits, not operators"),
      Flag<&ProfileArguments::no_record>("Record everything that has a low cost, but no operators"),
      Flag<&ProfileArguments::summary_only>("Keep summaries of the recordings, and not the recordings"),
      Flag<&ProfileArguments::no_summary>("Write no summaries of the recordings"),
      Flag<&ProfileArguments::explicit_steps>("End steps only where the program calls gapless.step()"),
      Choice<&NsightOptions::with, OneOf<kNsightTools>>(
          "TOOLS", "Run the command again under nsys, and under ncu for the five longest kernels"),
      Text<&NsightOptions::trace>("LIST", "Set the sources that nsys records (cuda,nvtx,cublas,cudnn)"),
      Positive<&NsightOptions::duration>("SECONDS", "Let nsys record for this time (to the end)", "s"),
      Flag<&NsightOptions::cuda_memory_usage>("Let nsys record device memory in addition"),
      Text<&NsightOptions::kernel_name>("NAME", "Let ncu measure this kernel, or regex:…"),
      Number<&NsightOptions::launch_count>("N", "Let ncu measure N launches of each kernel (3)", 1, 1000),
      Text<&NsightOptions::set>("NAME", "Let ncu measure this set of metrics (full)"),
      Flag<&NsightOptions::comprehensive>("Record everything: --python, --with nsys,ncu, and one report at the end"),
      Flag<&LaunchArguments::cupti>("Record Python programs with the native collector instead of PyTorch's profiler"),
      kLaunchStepFunctionOption,
      kTelemetryOption,
      kQuietOption,
  };
};

// Translates the options for the agent.
AgentOptions AgentOptionsFrom(const ProfileArguments& arguments) {
  AgentOptions options;
  RecordOptions& record = options.record;
  record.wait = arguments.wait;
  record.warmup = arguments.warmup;
  record.active = arguments.steps;
  record.repeat = arguments.repeat;
  if (arguments.light) options.mode = AgentMode::kLight;
  // PyTorch's profiler and the native collector cannot both record, because both need CUPTI.
  record.on = !arguments.light && !arguments.no_record && !arguments.cupti;
  record.shapes = !arguments.no_shapes;
  record.stacks = !arguments.no_stacks;
  record.memory = arguments.memory;
  options.memory_history = arguments.memory;
  if (arguments.explicit_steps) options.step = StepEnd::kExplicit;
  if (arguments.python) options.python = arguments.python->empty() ? "sample" : *arguments.python;
  return options;
}

// Writes the consolidated reports of --comprehensive, the page and a section for each tool, and adds a sentence for
// each. A report that fails is a sentence, too: the recordings are there already.
void WriteReport(const std::string& folder, const std::vector<std::string>& missing, Session& session,
                 std::vector<std::string>& done) {
  const auto tools = WriteToolReport(folder, missing, done);
  done.push_back(tools ? StrCat("what each tool recorded: ", *tools) : StrCat("no report: ", tools.error().message));
  const Command& analyze = *FindCommand("analyze");
  const std::string page = folder + "/report.html";
  const std::vector<std::string> words{folder, "-o", page};
  const auto arguments = ParseArguments(analyze, words);
  if (!arguments) return;
  const auto status = analyze.call.run(**arguments, session);
  done.push_back(status ? StrCat("full report: ", page) : StrCat("no report: ", status.error().message));
}

// Writes summaries, and says what became of them. Recordings without one stay and are named.
void Summarise(const ProfileArguments& arguments, const LaunchResult& run, const Session& session, Afterwards& done) {
  if (arguments.no_summary) return;
  const auto summaries = SummarizeRun(RecordedRunOf(run), {.only = arguments.summary_only, .cancel = session.cancel});
  if (!summaries) return done.said.push_back(StrCat("no summaries, the recordings stay: ", summaries.error().message));
  done.summaries = summaries->written, done.removed = summaries->removed;
  const auto count = [](size_t number) { return static_cast<int64_t>(number); };
  if (!summaries->written.empty())
    done.said.push_back(StrCat(
        run.folder, "/", kSummariesFolder, ": ",
        FormatCounted(count(summaries->written.size()), "summary", "summaries"), ", ", FormatBytes(summaries->bytes),
        " of ", FormatBytes(summaries->recorded_bytes), ", in ", FormatDuration(summaries->ns),
        arguments.summary_only ? StrCat("; ", FormatCounted(count(summaries->removed.size()), "recording"), " removed")
                               : ""));
  for (const Error& error : summaries->without)
    done.said.push_back(StrCat("no summary of ", error.place, ", which stays: ", error.message));
}

// Runs the command, and after it what needs its recording: Nsight's runs, copies, reports.
Result<int> Execute(const ProfileArguments& arguments, Session& session) {
  if (arguments.summary_only && arguments.no_summary)
    return Fail(ErrorCode::kUsage, "--summary-only and --no-summary exclude each other");
  AgentOptions agent = AgentOptionsFrom(arguments);
  const NsightPlan nsight = NsightPlanFrom(arguments);
  // Another way to profile Python that was asked for stays.
  if (arguments.comprehensive && agent.python.empty()) agent.python = "sample";
  return RunWatched(
      arguments,
      {.verb = "profile", .agent = agent, .missing = nsight.missing, .afterwards = [&](const LaunchResult& run) {
         Afterwards done{.said = RunNsight(nsight, arguments.command, run.path)};
         for (std::string& sentence : CopyToTraceFolder(run.path)) done.said.push_back(std::move(sentence));
         if (arguments.comprehensive) WriteReport(run.folder, nsight.missing, session, done.said);
         Summarise(arguments, run, session, done);
         return done;
       }});
}

constexpr const TypeInfo* kDocuments[] = {&kLaunchDocument};
constexpr Example kExamples[] = {
    {"gapless profile -- python train.py", "Steps, waits, telemetry, and six recorded steps, in run/"},
    {"gapless profile -o runs/a -- torchrun --nproc-per-node 8 train.py", "A folder per rank in runs/a"},
    {"gapless profile --wait 100 --steps 20 -- python -m train", "Twenty steps, once a hundred have passed"},
    {"gapless profile --summary-only -- torchrun --nproc-per-node 8 train.py",
     "Some dozen kB for each rank, and no more"},
    {"gapless profile --python -- bash train.sh", "Where the Python code spends its time, loader workers too"},
};

}  // namespace

COMMAND(profile) = {
    .name = "profile",
    .place = {groups::kFind, 1},
    .help = "Run a training command unchanged and record it",
    .about =
        "Runs the command unchanged and writes a folder: its steps, their waits, telemetry of the machine, "
        "and a few steps recorded by PyTorch's profiler, in every process. The script is not edited; its "
        "output, signals and exit status stay its own.\n\nIf the command or gapless is killed, the folder "
        "holds everything recorded until then. At the end each recording gets a summary in the folder summaries, which "
        "stands for it wherever recordings are read. GAPLESS_DISABLE=1 in a process switches gapless off there.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .own_failure = 125,
    .call = kCall<Execute>};

}  // namespace gapless::internal::profile_command
