// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/compare/report.h"
#include "cli/commands/compare/stored.h"
#include "cli/progress.h"
#include "proof/comparison.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace {

constexpr int64_t kDefaultPairs = 30, kMostPairs = 10'000;
constexpr double kDefaultMargin = 0.01;

struct Plan {
  PairPlan pairs;
  PairOptions options;
  bool higher_is_better = false;
};

// What stands after -- is split at the second --; or both are given by options, as a shell would read them.
Result<std::pair<std::vector<std::string>, std::vector<std::string>>> CommandsFrom(const Arguments& arguments) {
  if (arguments.Has("a") || arguments.Has("b")) {
    if (!arguments.Has("a") || !arguments.Has("b") || !arguments.command().empty())
      return Fail(ErrorCode::kUsage, "--a and --b go together, and without --");
    const auto shell = [&](std::string_view option) {
      return std::vector<std::string>{"/bin/sh", "-c", std::string(arguments.Value(option))};
    };
    return std::pair(shell("a"), shell("b"));
  }
  const std::vector<std::string>& words = arguments.command();
  const auto second = std::find(words.begin(), words.end(), "--");
  if (second == words.end() || second == words.begin() || second + 1 == words.end())
    return Fail(ErrorCode::kUsage, "two commands are needed", "", "gapless compare -- python old.py -- python new.py");
  return std::pair(std::vector<std::string>(words.begin(), second), std::vector<std::string>(second + 1, words.end()));
}

Result<Plan> PlanFrom(const Arguments& arguments) {
  auto commands = CommandsFrom(arguments);
  if (!commands) return Unexpected{commands.error()};
  auto a = RequestFrom(arguments, std::move(commands->first)), b = RequestFrom(arguments, std::move(commands->second));
  if (!a) return Unexpected{a.error()};
  const auto pairs = arguments.Number("pairs", 1, kDefaultPairs), seed = arguments.Number("seed", 0, -1);
  const auto margin = ShareFrom(arguments, "margin", kDefaultMargin);
  const auto budget = TimeFrom(arguments, "budget");
  if (!pairs) return Unexpected{pairs.error()};
  if (!seed) return Unexpected{seed.error()};
  if (!margin) return Unexpected{margin.error()};
  if (!budget) return Unexpected{budget.error()};
  Plan plan{.pairs = {.a = std::move(*a), .b = std::move(*b)}, .options = {.margin = *margin}};
  plan.pairs.budget_s = *budget;
  plan.pairs.most_pairs = static_cast<size_t>(std::min(*pairs, kMostPairs));
  // The coin must not be the same in every comparison that anybody makes.
  plan.pairs.seed = *seed >= 0 ? static_cast<uint64_t>(*seed) : std::random_device()();
  plan.higher_is_better = arguments.Has("higher-is-better");
  return plan;
}

Result<Comparison> Compare(const Plan& plan, const Session& session) {
  Comparison comparison(plan.options, plan.higher_is_better);
  ProgressLine progress;
  GAPLESS_TRY(RunPairs(plan.pairs, comparison, [&] {
    if (session.stderr_is_tty)
      progress.Update("comparing", StrCat("pair ", comparison.pairs(), ": ", SpeedupInShort(comparison), " "),
                      comparison.pairs(), plan.pairs.most_pairs,
                      [](uint64_t pairs) { return StrCat(pairs, " pairs at most"); });
    return !comparison.IsDecided();
  }));
  return comparison;
}

// Pairs that were measured elsewhere.
Result<int> ExecuteRatios(const Arguments& arguments) {
  const auto margin = ShareFrom(arguments, "margin", kDefaultMargin);
  if (!margin) return Unexpected{margin.error()};
  const auto file = ReadResultFile(std::string(arguments.Value("ratios")), arguments.Value("column"));
  if (!file) return Unexpected{file.error()};
  if (file->series.size() != 1)
    return Fail(ErrorCode::kInput, "one series of ratios is wanted", std::string(arguments.Value("ratios")));
  const PairOptions options{.margin = *margin};
  PairSequence sequence(options);
  for (const double log_ratio : file->series[0].values) sequence.Add(log_ratio);
  return Answer(
      arguments, sequence.Verdict() == PairVerdict::kFaster, [&] { return RatiosText(sequence, options); },
      [&] { return RatiosJson(sequence, options); });
}

// Two files of results.
Result<int> ExecuteStored(const Arguments& arguments) {
  const auto& files = arguments.positionals();
  if (files.size() != 2 || !arguments.command().empty() || arguments.Has("a") || arguments.Has("b"))
    return Fail(ErrorCode::kUsage, "two files are compared, or two commands", "",
                "gapless compare before.json after.json");
  const auto margin = ShareFrom(arguments, "margin", kDefaultMargin);
  if (!margin) return Unexpected{margin.error()};
  StoredOptions options{.series = std::string(arguments.Value("series")), .margin = *margin};
  if (arguments.Has("values")) options.sampling = SamplingFrom(arguments.Value("values"));
  if (arguments.Has("higher-is-better")) options.higher_is_better = true;
  const auto a = ReadResultFile(files[0], arguments.Value("column")),
             b = ReadResultFile(files[1], arguments.Value("column"));
  if (!a) return Unexpected{a.error()};
  if (!b) return Unexpected{b.error()};
  const auto comparison = CompareStored(*a, *b, options);
  if (!comparison) return Unexpected{comparison.error()};
  return Answer(
      arguments, comparison->verdict == PairVerdict::kFaster, [&] { return StoredText(*comparison); },
      [&] { return StoredJson(*comparison); });
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("ratios")) return ExecuteRatios(arguments);
  if (!arguments.positionals().empty()) return ExecuteStored(arguments);
  const auto plan = PlanFrom(arguments);
  if (!plan) return Unexpected{plan.error()};
  const auto comparison = Compare(*plan, session);
  if (!comparison) return Unexpected{comparison.error()};
  return Answer(
      arguments, comparison->Verdict() == PairVerdict::kFaster, [&] { return CompareText(*comparison); },
      [&] { return CompareJson(*comparison, plan->pairs); });
}

std::vector<std::string_view> ValueKinds() { return {"process", "iteration"}; }

constexpr PositionalSpec kPositionals[] = {
    {.name = "FILE", .help = "two files of results instead of two commands", .min = 0, .max = 2, .is_path = true}};
constexpr OptionSpec kOptions[] = {
    {.name = "pairs", .takes = kTakesValue, .value = "N", .help = "Give up after N pairs (30)"},
    {.name = "budget", .takes = kTakesValue, .value = "TIME", .help = "Begin no pair after so long: 90s, 10m, 2h"},
    {.name = "margin", .takes = kTakesValue, .value = "SHARE", .help = "Differences below it do not matter (1%)"},
    {.name = "a", .takes = kTakesValue, .value = "CMD", .help = "The first command, for a shell, instead of after --"},
    {.name = "b", .takes = kTakesValue, .value = "CMD", .help = "The second one"},
    kWarmupOption,
    kStepsOption,
    kPatternOption,
    {.name = "higher-is-better", .help = "What --pattern finds is better when it is more"},
    kWholeOption,
    kToTheEndOption,
    kTimeoutOption,
    {.name = "seed", .takes = kTakesValue, .value = "N", .help = "Of the coin that draws the order within a pair"},
    kShowOutputOption,
    {.name = "ratios",
     .takes = kTakesValue,
     .value = "FILE",
     .help = "Of pairs made elsewhere: ln(time of B / time of A), a number a line"},
    {.name = "series", .takes = kTakesValue, .value = "NAME", .help = "Of files with several: which to compare"},
    {.name = "column",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Of CSV files: the column, by its name or number"},
    {.name = "values",
     .takes = kTakesValue,
     .value = "WHAT",
     .help = "What a value in the files is, where they do not tell",
     .choices = ValueKinds},
};
constexpr Example kExamples[] = {
    {"gapless compare -- python train.py -- python train.py --amp", "Is the second one faster?"},
    {"gapless compare --margin 2% --pairs 60 --a 'OMP_NUM_THREADS=1 python t.py' --b 'python t.py'",
     "The same up to 2 %, with commands for a shell"},
    {"gapless compare before.json after.json", "Two stored results, of hyperfine, pyperf and others, too"},
};

}  // namespace

COMMAND(compare) = {
    .name = "compare",
    .help = "Tell whether one command is faster than another",
    .about =
        "Runs both commands in pairs of fresh processes, in an order drawn by lot, and looks after every pair: B is "
        "faster, slower, equivalent, or it cannot be told. The unit is the process, summarised by its median step "
        "after "
        "warm-up, or its whole time where no steps are seen; programs that train on are stopped once they are "
        "measured.\n\nThe interval and the p value hold at whatever pair one stops, with drift and outliers "
        "(docs/STATISTICS.md). The exit status is 0 when B is faster, 1 when it is not.\n\nTwo files of results are "
        "compared "
        "as they are. Where a value in them is a process there is a verdict; iterations of one process each cannot "
        "carry "
        "one, and it is said what they show.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .run = Execute};

}  // namespace gapless::internal
