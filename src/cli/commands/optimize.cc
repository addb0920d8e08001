// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/json_writer.h"
#include "base/redact.h"
#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/optimize/ready.h"
#include "cli/commands/optimize/report.h"
#include "cli/output.h"
#include "cli/pairs.h"
#include "cli/progress.h"
#include "collect/files.h"
#include "optimize/journal.h"
#include "optimize/recipe.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kDefaultFolder = "optimized";
constexpr double kDefaultBudgetS = 600;
constexpr int64_t kDefaultPairs = 12, kMaxPairs = 1000, kDefaultSteps = 50, kDefaultWarmup = 5;

struct Ordered {
  RunRequest request{};
  PlannerOptions planner{};
  CandidateOptions candidates{};
  OwnFixes own{};
  std::string folder{}, metric_name{};
  bool keep_candidate = false;
};

Result<PlannerOptions> PlannerFrom(const Arguments& arguments) {
  PlannerOptions options;
  const auto budget = TimeFrom(arguments, "budget");
  const auto pairs = arguments.Number("pairs", 4, kDefaultPairs), seed = arguments.Number("seed", 0, 1);
  const auto pair_options = PairOptionsFrom(arguments);
  if (!budget) return Unexpected{budget.error()};
  if (!pairs) return Unexpected{pairs.error()};
  if (!seed) return Unexpected{seed.error()};
  if (!pair_options) return Unexpected{pair_options.error()};
  options.budget_s = budget->value_or(kDefaultBudgetS);
  options.most_pairs = static_cast<size_t>(std::min(*pairs, kMaxPairs));
  options.pairs = *pair_options;
  options.seed = static_cast<uint64_t>(*seed);
  options.exact = arguments.Has("exact");
  if (arguments.Has("allow")) options.allow = *AllowedChangeNamed(arguments.Value("allow"));
  return options;
}

Result<void> FixesFrom(const Arguments& arguments, Ordered& ordered) {
  auto own = OwnFixesFrom(arguments.Values("fix"));
  if (!own) return Unexpected{own.error()};
  ordered.own = std::move(*own);
  ordered.candidates.own = ordered.own.fixes;
  for (const std::string& text : arguments.Values("only")) {
    auto items = ParseFixItems(text, ordered.own.fixes);
    if (!items) return Unexpected{items.error()};
    ordered.candidates.only.insert(ordered.candidates.only.end(), items->begin(), items->end());
  }
  for (const std::string& text : arguments.Values("without")) {
    const auto items = ParseFixItems(text, ordered.own.fixes);
    if (!items) return Unexpected{items.error()};
    for (const FixItem& item : *items) ordered.candidates.without.emplace_back(item.fix->name);
  }
  return {};
}

Result<Ordered> OrderFrom(const Arguments& arguments) {
  Ordered ordered;
  auto request = RequestFrom(arguments, arguments.command());
  if (!request) return Unexpected{request.error()};
  ordered.request = std::move(*request);
  if (!arguments.Has("steps")) ordered.request.measure = kDefaultSteps;
  if (!arguments.Has("warmup")) ordered.request.warmup = kDefaultWarmup;
  auto planner = PlannerFrom(arguments);
  if (!planner) return Unexpected{planner.error()};
  ordered.planner = *planner;
  ordered.planner.warmup = ordered.request.warmup;
  if (arguments.Has("metric")) {
    const std::string_view metric = arguments.Value("metric");
    const size_t equals = metric.find('=');
    if (equals == 0 || equals == metric.npos || equals + 1 == metric.size())
      return Fail(ErrorCode::kUsage, "--metric takes a name and a pattern", std::string(metric),
                  "--metric 'accuracy=accuracy ([0-9.]+)'");
    ordered.metric_name = metric.substr(0, equals);
    ordered.request.metric = metric.substr(equals + 1);
    ordered.planner.has_metric = true;
  }
  GAPLESS_TRY(FixesFrom(arguments, ordered));
  ordered.folder = arguments.Value("output", kDefaultFolder);
  ordered.keep_candidate = arguments.Has("keep-candidate");
  return ordered;
}

// What a decision depends on, beside the fixes.
std::string KeyOf(const Ordered& ordered) {
  std::string key =
      StrCat(Join(RedactCommand(ordered.request.command), "\x1f"), "\n", Absolute("."), "\n", ordered.request.warmup,
             " ", ordered.request.measure, " ", static_cast<int>(ordered.planner.allow), " ", ordered.request.metric,
             ordered.planner.exact ? " exact" : "", " ", ordered.planner.pairs.margin);
  for (const Fix& fix : ordered.own.fixes) key += StrCat("\n", fix.own_file);
  return key;
}

void Say(const std::string& line) { std::fputs(StrCat("gapless: ", RedactText(line), "\n").c_str(), stderr); }

// How many steps of a run to record for the comparison: as many as take a few seconds, and a third of a short program.
ParityPlan ParityPlanFor(const RunSample& recorded) {
  constexpr double kSeconds = 10;
  constexpr int kMinSteps = 5;
  ParityPlan plan{.seconds = 0};
  const double step_ms = MeanStepMs(recorded);
  if (recorded.source == SampleSource::kSteps && step_ms > 0)
    plan.steps = std::clamp(static_cast<int>(kSeconds * 1e3 / step_ms), kMinSteps, plan.steps);
  if (!recorded.stopped) plan.steps = std::min(plan.steps, std::max(1, static_cast<int>(recorded.step_ns.size() / 3)));
  return plan;
}

// On standard error: a line for each decision, and on a terminal what is being done.
class Speaker {
 public:
  Speaker(const Session& session, bool quiet) : session_(session), quiet_(quiet) {}

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
  static std::string WordsOf(const Decision& decision) {
    const std::string gain = decision.measured ? StrCat(" ", SpeedupText(*decision.measured)) : "";
    return StrCat(decision.outcome == Outcome::kAccepted ? "+ " : "- ", decision.item.ToString(), gain, ": ",
                  decision.reason);
  }
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

Recipe RecipeOf(const Ordered& ordered, const Optimized& result, const FixContext& context, const RunSample& sample) {
  Recipe recipe{.command = RedactCommand(ordered.request.command)};
  recipe.proved = IsProved(result);
  for (const Decision& decision : result.decisions) {
    if (decision.outcome != Outcome::kAccepted) continue;
    RecipeFix fix{.item = decision.item.ToString(),
                  .own = !decision.item.fix->own_file.empty(),
                  .safety = std::string(NameOf(decision.item.Class()))};
    for (const Change& change : decision.changes)
      if (change.state == ChangeState::kOn && fix.what.empty()) fix.what = change.what;
    if (decision.predicted) fix.predicted = decision.predicted->expected;
    if (decision.measured)
      fix.low = decision.measured->low, fix.measured = decision.measured->expected, fix.high = decision.measured->high;
    recipe.fixes.push_back(std::move(fix));
  }
  for (auto& [name, value] : result.accepted.Environment(context)) recipe.environment[name] = value;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) recipe.made_on[key] = value;
  };
  add("cpu", sample.host.cpu);
  add("versions", sample.versions);
  add("gpu", sample.host.gpus.empty() ? "" : sample.host.gpus[0].model);
  add("driver", sample.host.nvidia_driver);
  add("gapless", GAPLESS_VERSION);
  if (result.speedup)
    recipe.low = result.speedup->low, recipe.speedup = result.speedup->expected, recipe.high = result.speedup->high;
  return recipe;
}

// Where the patch applies: here, or the folder of the script where that lies elsewhere.
std::string PatchRoot(const std::vector<Change>& changes) {
  std::string here = Absolute(".");
  std::string elsewhere;
  for (const Change& change : changes) {
    if (change.edit.file.starts_with(here + "/")) return here;
    if (elsewhere.empty() && !change.edit.file.empty())
      elsewhere = std::filesystem::path(change.edit.file).parent_path().string();
  }
  return elsewhere.empty() ? here : elsewhere;
}

// A recipe and a patch of an earlier start are not of this result: they are kept beside it, by another name.
void PutAside(const std::string& folder) {
  std::error_code error;
  for (const char* end : {".json", ".patch"})
    std::filesystem::rename(StrCat(folder, "/optimized", end), StrCat(folder, "/earlier", end), error);
  std::filesystem::remove(folder + "/candidate.json", error);
}

Result<void> WriteWhatIsProved(const Ordered& ordered, const Recipe& recipe, OptimizeView& view) {
  std::vector<Change> changes;
  for (const Decision& decision : view.result.decisions)
    if (decision.outcome == Outcome::kAccepted)
      changes.insert(changes.end(), decision.changes.begin(), decision.changes.end());
  const std::string root = PatchRoot(changes);
  view.patch = WritePatch(changes, root);
  if (root != Absolute(".")) view.patch_root = root;
  view.recipe = StrCat(ordered.folder, "/optimized.json");
  GAPLESS_TRY(WriteRecipe(recipe, view.recipe));
  if (view.patch.diff.empty()) return {};
  view.patch_file = StrCat(ordered.folder, "/optimized.patch");
  return WriteFileAtomically(view.patch_file, view.patch.diff, 0600);
}

Result<void> HandOver(const Ordered& ordered, const Optimized& result, const FixContext& context,
                      const RunSample& sample, OptimizeView& view) {
  const Recipe recipe = RecipeOf(ordered, result, context, sample);
  PutAside(ordered.folder);
  if (recipe.proved) {
    GAPLESS_TRY(WriteWhatIsProved(ordered, recipe, view));
  } else if (ordered.keep_candidate && !result.accepted.empty()) {
    view.candidate = StrCat(ordered.folder, "/candidate.json");
    GAPLESS_TRY(WriteRecipe(recipe, view.candidate));
  }
  view.log = StrCat(ordered.folder, "/report.md");
  view.page = StrCat(ordered.folder, "/report.html");
  GAPLESS_TRY(WriteFileAtomically(view.log, OptimizeMarkdown(view), 0600));
  GAPLESS_TRY(WriteFileAtomically(StrCat(ordered.folder, "/result.json"), OptimizeJson(view), 0600));
  return WriteFileAtomically(view.page, OptimizePage(view), 0600);
}

// The folder of the recording, free: one of an earlier start goes.
Result<std::string> FreshProfileFolder(const std::string& folder) {
  const std::string profile = StrCat(folder, "/profile");
  GAPLESS_TRY(MakeFolders(folder));
  std::error_code error;
  if (IsRunFolder(profile)) std::filesystem::remove_all(profile, error);
  return profile;
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("list")) return PrintTextOrJson(arguments, FixesText, FixesJson);
  const auto begun = Clock::now();
  auto ordered = OrderFrom(arguments);
  if (!ordered) return Unexpected{ordered.error()};
  ordered->planner.begun = begun;
  const bool quiet = arguments.Has("quiet");
  const auto profile = FreshProfileFolder(ordered->folder);
  if (!profile) return Unexpected{profile.error()};
  auto journal = DecisionJournal::Open(StrCat(ordered->folder, "/journal.jsonl"), KeyOf(*ordered),
                                       arguments.Has("fresh"), ordered->own.fixes);
  if (!journal) return Unexpected{journal.error()};
  if (journal->found() > 0 && !quiet)
    Say(StrCat("going on where it was: ", journal->found(), " decisions are taken over (--fresh begins anew)"));

  auto recorded = Record(ordered->request, *profile, !arguments.Has("bottlenecks"), arguments, session);
  if (!recorded) return Unexpected{recorded.error()};
  if (arguments.Has("bottlenecks")) {
    auto bottlenecks = BottlenecksFrom(std::string(arguments.Value("bottlenecks")));
    if (!bottlenecks) return Unexpected{bottlenecks.error()};
    recorded->bottlenecks = std::move(*bottlenecks);
  }
  ordered->planner.memory_limit_bytes = recorded->sample.gpu_capacity_bytes;
  FixContext context = ContextOf(*recorded, ordered->request);
  context.all_values = arguments.Has("grid");
  ordered->planner.loader_workers = context.loader_workers;
  const Predictor* const predictor =
      recorded->advice && recorded->advice->predictor() ? &*recorded->advice->predictor() : nullptr;
  const auto candidates = FindCandidates(context, recorded->bottlenecks, predictor, ordered->candidates);

  ProcessRunner runner({.request = ordered->request, .context = context, .parity = ParityPlanFor(recorded->sample)});
  Speaker speaker(session, quiet);
  const auto result =
      Plan(candidates, ordered->planner, runner, *journal, [&](const PlannerEvent& event) { speaker.On(event); });
  if (!result) return Unexpected{result.error()};
  OptimizeView view{.result = *result, .command = RedactCommand(ordered->request.command)};
  view.about = AboutOf(context, recorded->sample);
  view.metric_name = ordered->metric_name;
  view.folder = ordered->folder;
  for (const Bottleneck& one : recorded->bottlenecks) view.found.push_back(FoundText(one, *result));
  GAPLESS_TRY(HandOver(*ordered, *result, context, recorded->sample, view));
  if (!journal->failure().empty() && !quiet) Say(StrCat("warning: ", journal->failure()));
  return Answer(
      arguments, IsProved(*result), [&] { return OptimizeText(view, session.terminal.width); },
      [&] { return OptimizeJson(view); });
}

std::vector<std::string_view> Classes() { return {"exact", "rounding", "stochastic", "training"}; }

constexpr OptionSpec kOptions[] = {
    {.name = "output", .letter = 'o', .takes = kTakesValue, .value = "DIR", .help = "Folder to leave (optimized)"},
    {.name = "budget", .takes = kTakesValue, .value = "TIME", .help = "Stop after this time: 5m, 2h (10m)"},
    {.name = "only", .takes = kTakesValue, .value = "FIXES", .help = "Try only these: workers=4,amp (may repeat)"},
    {.name = "without", .takes = kTakesValue, .value = "FIXES", .help = "Do not try these"},
    {.name = "allow",
     .takes = kTakesValue,
     .value = "CLASS",
     .help = "The most that a fix may change (stochastic)",
     .choices = Classes},
    {.name = "exact", .help = "Only what leaves losses and parameters the same, bit for bit"},
    {.name = "grid", .help = "Try every value of a fix, not only those that suit this machine"},
    {.name = "bottlenecks", .takes = kTakesValue, .value = "FILE", .help = "Order by the bottlenecks of this report"},
    {.name = "fix",
     .takes = kTakesValue,
     .value = "FILE[=CLASS]",
     .help = "Try a fix of your own, too: a Python file (may repeat)"},
    {.name = "pairs", .takes = kTakesValue, .value = "N", .help = "Reject a fix after N pairs without a result (12)"},
    {.name = "metric",
     .takes = kTakesValue,
     .value = "NAME=REGEX",
     .help = "A result that the program prints, and that must stay: the last match"},
    kMarginOption,
    {.name = "warmup", .takes = kTakesValue, .value = "N", .help = "Steps of each run that do not count (5)"},
    {.name = "steps",
     .takes = kTakesValue,
     .value = "N",
     .help = "Steps to measure of each run, fewer where they are long (50)"},
    kTimeoutOption,
    kStepFunctionOption,
    kPinOption,
    kSeedOption,
    {.name = "keep-candidate", .help = "Leave candidate.json where fixes stay and all together are not proved"},
    {.name = "fresh", .help = "Forget the decisions of an interrupted run"},
    {.name = "list", .help = "List the fixes"},
    {.name = "quiet", .letter = 'q', .help = "Say nothing on standard error"},
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
        "Records the command once, orders the fixes by the gain that each promises per second of its trial, and tries "
        "them "
        "one after the other on the unmodified script. A fix stays only when pairs of runs, or blocks of steps within "
        "a run, show that it is "
        "significantly faster and that the losses agree as its class promises. All that stay are proved together in "
        "the end.\n\nA run that crashes, hangs or runs out of memory is contained and told. Nothing of yours is "
        "written to: there is a folder with a recipe for `gapless run`, a patch for the script, and a report with "
        "every "
        "decision. What was interrupted goes on where it was.\n\nThe exit status is 0 when all that stay are proved "
        "to be faster together, at 95 %; else it is 1, and there is no recipe and no patch. --keep-candidate then "
        "leaves "
        "what "
        "stayed in its own trial as candidate.json, which is a recipe that says of itself that it is unproved.",
    .positionals = {},
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
