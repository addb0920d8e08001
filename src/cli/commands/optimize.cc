// SPDX-License-Identifier: Apache-2.0
// The command `gapless optimize`: translates options to an OptimizeOrder, runs flows/optimization.h, and prints
// progress and result.
//
// When the search ends, the folder has report.md, report.html and result.json, and a recipe and patch if all fixes
// together are proved. The exit status is 0 if they are, else 1.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/redact.h"
#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "cli/pairs.h"
#include "cli/progress.h"
#include "collect/files.h"
#include "flows/optimization.h"
#include "report/optimize/report.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMaxPairs = 1000;

// Reads the options; defaults are those of the C++ library. What the flow checks is not checked here.
Result<OptimizeOptions> OptionsFrom(const Arguments& arguments) {
  OptimizeOptions options;
  GAPLESS_ASSIGN(const auto budget, TimeFrom(arguments, "budget"));
  GAPLESS_ASSIGN(const auto timeout, TimeFrom(arguments, "timeout"));
  GAPLESS_ASSIGN(const auto pairs, arguments.Number("pairs", 4, static_cast<int64_t>(options.max_pairs)));
  GAPLESS_ASSIGN(const auto warmup, arguments.Number("warmup", 0, static_cast<int64_t>(options.warmup_steps)));
  GAPLESS_ASSIGN(const auto steps, arguments.Number("steps", 1, static_cast<int64_t>(options.num_steps)));
  GAPLESS_ASSIGN(const auto seed, arguments.Number("seed", 0, static_cast<int64_t>(options.seed)));
  GAPLESS_ASSIGN(const auto pair_options, PairOptionsFrom(arguments));
  options.folder = arguments.Value("output", options.folder);
  options.budget_s = budget.value_or(options.budget_s);
  options.timeout_s = timeout.value_or(options.timeout_s);
  options.max_pairs = static_cast<size_t>(std::min(pairs, kMaxPairs));
  options.warmup_steps = static_cast<size_t>(warmup);
  options.num_steps = static_cast<size_t>(steps);
  options.seed = static_cast<uint64_t>(seed);
  options.margin = pair_options.margin;
  options.only = arguments.Values("only");
  options.without = arguments.Values("without");
  options.own_fixes = arguments.Values("fix");
  if (arguments.Has("allow")) options.allow = *SafetyNamed(arguments.Value("allow"));
  options.exact = arguments.Has("exact");
  options.all_values = arguments.Has("grid");
  options.fresh = arguments.Has("fresh");
  options.keep_candidate = arguments.Has("keep-candidate");
  options.bottlenecks = arguments.Value("bottlenecks");
  options.metric = arguments.Value("metric");
  return options;
}

// Prints a line on standard error, without secrets: reasons may quote the program's output.
void Say(const std::string& line) { std::fputs(StrCat("gapless: ", RedactText(line), "\n").c_str(), stderr); }

// Prints progress on standard error: a line for each decision, and on a terminal what is being done.
class Speaker {
 public:
  Speaker(const Session& session, bool quiet) : session_(session), quiet_(quiet) {}

  // Erases the progress line before a decision is printed, so that the two do not share a line.
  void On(const PlannerEvent& event) {
    if (event.kind == PlannerEvent::Kind::kDecided) {
      line_.reset();
      if (!quiet_) Say(WordsOf(*event.decision));
      return;
    }
    if (!session_.stderr_is_tty || quiet_) return;
    if (!line_) line_.emplace();
    line_->Update(DoingOf(event), "", event.done, event.of, [](uint64_t of) { return StrCat(of, " fixes"); });
  }

 private:
  // "+ workers=4 1.42× (1.35–1.49): …" for a fix that stays, "- …" for any other.
  static std::string WordsOf(const Decision& decision) {
    const std::string gain = decision.measured ? StrCat(" ", SpeedupText(*decision.measured)) : "";
    return StrCat(decision.outcome == FixOutcome::kAccepted ? "+ " : "- ", decision.item.ToString(), gain, ": ",
                  decision.reason);
  }
  // Names what the planner is doing for the progress line.
  static std::string DoingOf(const PlannerEvent& event) {
    const std::string item = event.item != nullptr ? event.item->ToString() : "all together";
    switch (event.kind) {
      case PlannerEvent::Kind::kBaseline: return "running it as it is";
      case PlannerEvent::Kind::kScreening: return "switching all fixes in one run";
      case PlannerEvent::Kind::kRetesting: return StrCat("is ", item, " still needed?");
      case PlannerEvent::Kind::kFinal: return "all together";
      case PlannerEvent::Kind::kPair:
        return StrCat(item, ", pair ", event.contest->sequence.size(), ": ", SpeedupText(event.contest->Speedup()));
      case PlannerEvent::Kind::kTrying:
      case PlannerEvent::Kind::kDecided: break;
    }
    return StrCat("trying ", item);
  }

  const Session& session_;
  bool quiet_;
  std::optional<ProgressLine> line_{};
};

// Collects what all reports show. The command is redacted once, here.
OptimizeView ViewOf(const Optimization& done, const OptimizeOrder& order) {
  OptimizeView view{.result = done.result,
                    .command = RedactCommand(order.request.command),
                    .about = AboutOf(done.context, done.sample),
                    .metric_name = done.metric_name,
                    .patch = done.files.patch,
                    .patch_root = done.files.patch_root,
                    .folder = order.options.folder,
                    .recipe = done.files.recipe,
                    .candidate = done.files.candidate,
                    .patch_file = done.files.patch_file,
                    .log = StrCat(order.options.folder, "/report.md"),
                    .page = StrCat(order.options.folder, "/report.html")};
  for (const Bottleneck& bottleneck : done.bottlenecks) view.found.push_back(FoundText(bottleneck, done.result));
  return view;
}

// Writes the reports, readable by their owner only.
Result<void> WriteReports(const OptimizeView& view) {
  GAPLESS_TRY(WriteFileAtomically(view.log, OptimizeMarkdown(view), 0600));
  GAPLESS_TRY(WriteFileAtomically(StrCat(view.folder, "/result.json"), OptimizeJson(view), 0600));
  return WriteFileAtomically(view.page, OptimizePage(view), 0600);
}

// Writes the reports before it prints: a closed pipe must not cost the files.
Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("list")) return PrintTextOrJson(arguments, FixesText, FixesJson);
  GAPLESS_ASSIGN(auto request, RequestFrom(arguments, arguments.command()));
  GAPLESS_ASSIGN(auto options, OptionsFrom(arguments));
  const bool quiet = arguments.Has("quiet");
  // Two progress lines must not be drawn at once: that of reading ends with the planner's first event.
  std::optional<ProgressLine> reading(std::in_place);  // gone once the recording was read
  const OptimizeOrder order{
      .request = std::move(request), .options = std::move(options), .load = OpenOptionsFrom(session, *reading)};
  Speaker speaker(session, quiet);
  const auto say = [&](const std::string& sentence) {
    if (!quiet) Say(sentence);
  };
  GAPLESS_ASSIGN(const auto done,
                 RunOptimization(order, {.on_note = say,
                                         .on_warning = [&](const std::string& why) { say(StrCat("warning: ", why)); },
                                         .on_event =
                                             [&](const PlannerEvent& event) {
                                               reading.reset();
                                               speaker.On(event);
                                             }}));
  const OptimizeView view = ViewOf(done, order);
  GAPLESS_TRY(WriteReports(view));
  return Answer(
      arguments, IsProved(done.result), [&] { return OptimizeText(view, session.terminal.width); },
      [&] { return OptimizeJson(view); });
}

std::vector<std::string_view> Classes() { return {"exact", "rounding", "stochastic", "training"}; }

constexpr OptionSpec kOptions[] = {
    {.name = "output",
     .letter = 'o',
     .takes = kTakesValue,
     .value = "DIR",
     .help = "Write the results to DIR (optimized)"},
    {.name = "budget", .takes = kTakesValue, .value = "TIME", .help = "Stop after this time: 5m, 2h (10m)"},
    {.name = "only",
     .takes = kTakesValue,
     .value = "FIXES",
     .help = "Try only these fixes: workers=4,amp (may repeat)"},
    {.name = "without", .takes = kTakesValue, .value = "FIXES", .help = "Do not try these fixes"},
    {.name = "allow",
     .takes = kTakesValue,
     .value = "CLASS",
     .help = "Try only fixes up to this safety class (stochastic)",
     .choices = Classes},
    {.name = "exact", .help = "Try only fixes that keep losses and parameters the same, bit for bit"},
    {.name = "grid", .help = "Try every value of a fix, not only the values that suit this machine"},
    {.name = "bottlenecks",
     .takes = kTakesValue,
     .value = "FILE",
     .help = "Order the fixes by the bottlenecks of this report"},
    {.name = "fix",
     .takes = kTakesValue,
     .value = "FILE[=CLASS]",
     .help = "Try your own fix in addition: a Python file (may repeat)"},
    {.name = "pairs", .takes = kTakesValue, .value = "N", .help = "Reject a fix after N pairs without a result (12)"},
    {.name = "metric",
     .takes = kTakesValue,
     .value = "NAME=REGEX",
     .help = "Keep a result that the program prints: the last match of REGEX must not change beyond its noise"},
    kMarginOption,
    {.name = "warmup", .takes = kTakesValue, .value = "N", .help = "Skip N steps of each run before measuring (5)"},
    {.name = "steps",
     .takes = kTakesValue,
     .value = "N",
     .help = "Measure N steps of each run, fewer if steps are long (50)"},
    kTimeoutOption,
    kStepFunctionOption,
    kPinOption,
    kSeedOption,
    {.name = "keep-candidate", .help = "Write candidate.json if fixes are accepted but all together are not proved"},
    {.name = "fresh", .help = "Discard the decisions of an interrupted run"},
    {.name = "list", .help = "List the fixes"},
    {.name = "quiet", .letter = 'q', .help = "Print nothing on standard error"},
};
constexpr const TypeInfo* kDocuments[] = {&kOptimizeDocument, &kFixesDocument};
constexpr Example kExamples[] = {
    {"gapless optimize -- python train.py", "Find what makes it significantly faster, and leave a recipe and a patch"},
    {"gapless optimize --only workers=4,amp --budget 5m -- python train.py", "Two fixes, five minutes"},
    {"gapless optimize --exact -- torchrun --nproc-per-node 2 train.py", "Only what changes no bit of the result"},
};

}  // namespace

COMMAND(optimize) = {
    .name = "optimize",
    .help = "Make a training command faster, with proof, without editing it",
    .about =
        "Records the command once, orders the fixes by predicted gain per second of trial, and tries them one"
        " after the other on the unmodified script. A fix is accepted only if pairs of runs, or blocks of "
        "steps within a run, show that it is significantly faster and that the losses agree as its safety "
        "class promises. All accepted fixes are proved together in the end.\n\nA run that crashes, hangs or "
        "runs out of memory is contained and reported. Your files are not changed: the results are a folder "
        "with a recipe for `gapless run`, a patch for the script, and a report with every decision. An "
        "interrupted run continues from its last decision.\n\nThe exit status is 0 if all accepted fixes "
        "together are proved to be faster, at 95 %; else it is 1, and there is neither recipe nor patch. "
        "What was ahead when the time was over is then left in candidate.json, a recipe that is marked as unproved; "
        "--keep-candidate writes it also of fixes that were accepted in their own trials alone.",
    .positionals = {},
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
