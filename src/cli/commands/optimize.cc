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
#include "flows/optimize_progress.h"
#include "report/optimize/report.h"

namespace gapless::internal::optimize_command {
namespace {

// A fix of hardware changes nothing of the program, so that there is none to try.
constexpr Choosable<Safety> kClasses[] = {{"exact", Safety::kExact},
                                          {"rounding", Safety::kRounding},
                                          {"stochastic", Safety::kStochastic},
                                          {"training", Safety::kTraining},
                                          {"quantized", Safety::kQuantized}};

struct OptimizeArguments : PairArguments {
  OptimizeArguments() { warmup = OptimizeOptions{}.warmup_steps, steps = OptimizeOptions{}.num_steps; }
  std::string output = OptimizeOptions{}.folder, bottlenecks{}, metric{};
  double budget = OptimizeOptions{}.budget_s;
  std::vector<std::string> only{}, without{}, fix{};
  Safety allow = OptimizeOptions{}.allow;
  size_t pairs = OptimizeOptions{}.max_pairs;
  bool exact = false, grid = false, keep_candidate = false, fresh = false, list = false, quiet = false,
       inference = false;
  static constexpr OptionList kOptions{
      Text<&OptimizeArguments::output>("DIR", "Write the results to DIR (optimized)").Short('o'),
      Parsed<&OptimizeArguments::budget, ReadTime>("TIME", "Stop after this time: 5m, 2h (10m)"),
      Text<&OptimizeArguments::only>("FIXES", "Try only these fixes: workers=4,amp (may repeat)"),
      Text<&OptimizeArguments::without>("FIXES", "Do not try these fixes"),
      Choice<&OptimizeArguments::allow, OneOf<kClasses>>("CLASS",
                                                         "Try only fixes up to this safety class (stochastic)"),
      Flag<&OptimizeArguments::exact>("Try only fixes that keep losses and parameters the same, bit for bit"),
      Flag<&OptimizeArguments::grid>("Try every value of a fix, not only the values that suit this machine"),
      Text<&OptimizeArguments::bottlenecks>("FILE", "Order the fixes by the bottlenecks of this report"),
      Text<&OptimizeArguments::fix>("FILE[=CLASS]", "Try your own fix in addition: a Python file (may repeat)"),
      Number<&OptimizeArguments::pairs>("N", "Reject a fix after N pairs without a result (12)", 4, 1000),
      Text<&OptimizeArguments::metric>(
          "NAME=REGEX",
          "Keep a result that the program prints: the last match of REGEX must not change beyond its noise"),
      Flag<&OptimizeArguments::inference>(
          "Make requests to a model faster: compares their latency, and what the model returns (--steps counts "
          "requests)"),
      kShortRunOptions,
      Flag<&OptimizeArguments::keep_candidate>(
          "Write candidate.json if fixes are accepted but all together are not proved"),
      Flag<&OptimizeArguments::fresh>("Discard the decisions of an interrupted run"),
      Flag<&OptimizeArguments::list>("List the fixes"),
      Flag<&OptimizeArguments::quiet>("Print nothing on standard error").Short('q'),
  };
};

// Checks nothing that the flow checks.
OptimizeOptions OptionsFrom(const OptimizeArguments& arguments) {
  OptimizeOptions options;
  options.folder = arguments.output;
  options.budget_s = arguments.budget;
  options.timeout_s = arguments.timeout.value_or(options.timeout_s);
  options.max_pairs = arguments.pairs;
  options.warmup_steps = arguments.warmup;
  options.num_steps = arguments.steps;
  options.seed = arguments.seed.value_or(options.seed);
  options.margin = arguments.margin;
  options.only = arguments.only;
  options.without = arguments.without;
  options.own_fixes = arguments.fix;
  options.allow = arguments.allow;
  options.exact = arguments.exact;
  options.all_values = arguments.grid;
  options.fresh = arguments.fresh;
  options.keep_candidate = arguments.keep_candidate;
  options.bottlenecks = arguments.bottlenecks;
  options.metric = arguments.metric;
  options.inference = arguments.inference;
  return options;
}

// Prints a line on standard error, without secrets: reasons may quote the program's output.
void Say(const std::string& line) { std::fputs(StrCat("gapless: ", RedactText(line), "\n").c_str(), stderr); }

// Prints progress on standard error: a line for each decision that took a trial or that the user can change, and what
// is being done.
class Speaker {
 public:
  Speaker(const Session& session, bool quiet) : session_(session), quiet_(quiet) {}

  // Erases the progress line before a decision is printed, so that the two do not share a line.
  void On(const PlannerEvent& event) {
    if (event.kind == PlannerEvent::Kind::kDecided) {
      line_.reset();
      if (!quiet_ && !IsInapplicable(*event.decision)) Say(WordsOf(*event.decision));
      return;
    }
    if (!session_.shows_progress || quiet_) return;
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
Result<int> Execute(const OptimizeArguments& arguments, Session& session) {
  if (arguments.list) return PrintTextOrJson(arguments, FixesText, FixesJson);
  GAPLESS_ASSIGN(auto request, RequestFrom(arguments, arguments.command));
  const bool quiet = arguments.quiet;
  // Two progress lines must not be drawn at once: that of reading ends with the planner's first event.
  std::optional<ProgressLine> reading(std::in_place);  // gone once the recording was read
  const OptimizeOrder order{
      .request = std::move(request), .options = OptionsFrom(arguments), .load = OpenOptionsFrom(session, *reading)};
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

constexpr const TypeInfo* kDocuments[] = {&kOptimizeDocument, &kFixesDocument};
constexpr Example kExamples[] = {
    {"gapless optimize -- python train.py", "Find what makes it significantly faster, and leave a recipe and a patch"},
    {"gapless optimize --only workers=4,amp --budget 5m -- python train.py", "Two fixes, five minutes"},
    {"gapless optimize --exact -- torchrun --nproc-per-node 2 train.py", "Only what changes no bit of the result"},
};

}  // namespace

COMMAND(optimize) = {
    .name = "optimize",
    .place = {groups::kFix, 1},
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
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::optimize_command
