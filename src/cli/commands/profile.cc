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

namespace gapless::internal {
namespace {

constexpr int kMaxSteps = 1'000'000;

std::vector<std::string_view> PythonProfiles() { return {"sample", "cprofile", "lines", "memory"}; }

// Reads a number of steps; numbers above kMaxSteps are cut to it.
Result<int> Steps(const Arguments& arguments, std::string_view option, int least, int fallback) {
  GAPLESS_ASSIGN(const auto number, arguments.Number(option, least, fallback));
  return static_cast<int>(std::min<int64_t>(number, kMaxSteps));
}

// Translates the options for the agent; defaults are those of AgentOptions.
Result<AgentOptions> AgentOptionsFrom(const Arguments& arguments) {
  AgentOptions options;
  struct {
    std::string_view option;
    int least;
    int* into;
  } const numbers[] = {{"wait", 0, &options.wait},
                       {"warmup", 0, &options.warmup},
                       {"steps", 1, &options.active},
                       {"repeat", 1, &options.repeat}};
  for (const auto& item : numbers) {
    GAPLESS_ASSIGN(const auto number, Steps(arguments, item.option, item.least, *item.into));
    *item.into = number;
  }
  options.light = arguments.Has("light");
  // PyTorch's profiler and the native collector cannot both record, because both need CUPTI.
  options.record = !options.light && !arguments.Has("no-record") && !arguments.Has("cupti");
  options.shapes = !arguments.Has("no-shapes");
  options.stacks = !arguments.Has("no-stacks");
  options.memory = arguments.Has("memory");
  options.memory_history = arguments.Has("memory");
  options.explicit_steps = arguments.Has("explicit-steps");
  if (arguments.Has("python")) {
    const std::string_view kind = arguments.Value("python");
    options.python = kind.empty() || kind == "-" ? "sample" : kind == "memory" ? "tracemalloc" : std::string(kind);
  }
  return options;
}

std::vector<std::string_view> OtherTools() { return {"nsys", "ncu"}; }

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
  const auto status = analyze.run(*arguments, session);
  done.push_back(status ? StrCat("full report: ", page) : StrCat("no report: ", status.error().message));
}

// Runs the command, and after it what needs its recording: Nsight's runs, copies, reports.
Result<int> Execute(const Arguments& arguments, Session& session) {
  GAPLESS_ASSIGN(auto agent, AgentOptionsFrom(arguments));
  GAPLESS_ASSIGN(const auto nsight, NsightPlanFrom(arguments));
  const bool comprehensive = arguments.Has("comprehensive");
  // Another way to profile Python that was asked for stays.
  if (comprehensive && agent.python.empty()) agent.python = "sample";
  return RunWatched(
      arguments,
      {.verb = "profile", .agent = agent, .missing = nsight.missing, .afterwards = [&](const LaunchResult& run) {
         auto done = RunNsight(nsight, arguments.command(), run.path);
         for (std::string& sentence : CopyToTraceFolder(run.path)) done.push_back(std::move(sentence));
         if (comprehensive) WriteReport(run.folder, nsight.missing, session, done);
         return done;
       }});
}

constexpr auto kValue = OptionSpec::Takes::kValue;
constexpr OptionSpec kOptions[] = {
    kRunFolderOption,
    kSharedFolderOption,
    {.name = "steps", .takes = kValue, .value = "N", .help = "Record N steps with PyTorch's profiler (6)"},
    {.name = "wait",
     .takes = kValue,
     .value = "N",
     .help = "Skip N steps first, so that compilation and tuning are not recorded (5)"},
    {.name = "warmup",
     .takes = kValue,
     .value = "N",
     .help = "Warm the profiler up for N steps, which are discarded (3)"},
    {.name = "repeat", .takes = kValue, .value = "N", .help = "Skip, warm up and record N times (1)"},
    {.name = "no-shapes", .help = "Do not record operator shapes: lower cost, no FLOPs"},
    {.name = "no-stacks", .help = "Do not record Python calls: lower cost, no source lines"},
    {.name = "memory", .help = "Record allocations and a snapshot of PyTorch's allocator in addition"},
    {.name = "python",
     .takes = OptionSpec::Takes::kOptionalValue,
     .value = "HOW",
     .help = "Profile the Python code, in workers too (by sampling)",
     .choices = PythonProfiles},
    {.name = "light", .help = "Record only steps, samples and waits, not operators"},
    {.name = "no-record", .help = "Record everything that has a low cost, but no operators"},
    {.name = "explicit-steps", .help = "End steps only where the program calls gapless.step()"},
    {.name = "with",
     .takes = kValue,
     .value = "TOOLS",
     .help = "Run the command again under nsys, and under ncu for the five longest kernels",
     .choices = OtherTools,
     .is_list = true},
    {.name = "trace",
     .takes = kValue,
     .value = "LIST",
     .help = "Set the sources that nsys records (cuda,nvtx,cublas,cudnn)"},
    {.name = "duration", .takes = kValue, .value = "SECONDS", .help = "Let nsys record for this time (to the end)"},
    {.name = "cuda-memory-usage", .help = "Let nsys record device memory in addition"},
    {.name = "kernel-name", .takes = kValue, .value = "NAME", .help = "Let ncu measure this kernel, or regex:…"},
    {.name = "launch-count", .takes = kValue, .value = "N", .help = "Let ncu measure N launches of each kernel (3)"},
    {.name = "set", .takes = kValue, .value = "NAME", .help = "Let ncu measure this set of metrics (full)"},
    {.name = "comprehensive", .help = "Record everything: --python, --with nsys,ncu, and one report at the end"},
    kCuptiOption,
    kStepFunctionOption,
    kTelemetryOption,
    kQuietOption,
};
constexpr const TypeInfo* kDocuments[] = {&kLaunchDocument};
constexpr Example kExamples[] = {
    {"gapless profile -- python train.py", "Steps, waits, telemetry, and six recorded steps, in run/"},
    {"gapless profile -o runs/a -- torchrun --nproc-per-node 8 train.py", "A folder per rank in runs/a"},
    {"gapless profile --wait 100 --steps 20 -- python -m train", "Twenty steps, once a hundred have passed"},
    {"gapless profile --python -- bash train.sh", "Where the Python code spends its time, loader workers too"},
};

}  // namespace

COMMAND(profile) = {
    .name = "profile",
    .help = "Run a training command unchanged and record it",
    .about =
        "Runs the command unchanged and writes a folder: its steps, their waits, telemetry of the machine, "
        "and a few steps recorded by PyTorch's profiler, in every process. The script is not edited; its "
        "output, signals and exit status stay its own.\n\nIf the command or gapless is killed, the folder "
        "holds everything recorded until then. GAPLESS_DISABLE=1 in a process switches gapless off there.",
    .positionals = {},
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .own_failure = 125,
    .run = Execute};

}  // namespace gapless::internal
