// SPDX-License-Identifier: Apache-2.0
// The command `gapless validate`: compares the original with the optimised command, checks that both are the same
// training, and judges the result against the history.
//
// It accepts only if all three agree; each reason against is named. An accepted result is recorded in the history
// unless --no-record is given. The exit status is 0 if it is accepted, else 1.
#include "base/redact.h"
#include "base/strings.h"
#include "cli/commands/validate/same_commands.h"
#include "cli/output.h"
#include "cli/pair_progress.h"
#include "cli/pairs.h"
#include "report/validate/report.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kPlace = "{config}";
constexpr double kDefaultEffect = 0.05;

// Returns the command with `file` in place of {config}, once in each word; empty if no word has {config}.
std::vector<std::string> WithConfig(const std::vector<std::string>& command, std::string_view file) {
  std::vector<std::string> words;
  bool found = false;
  for (const std::string& word : command) {
    const size_t at = word.find(kPlace);
    found = found || at != word.npos;
    words.push_back(at == word.npos ? word : StrCat(word.substr(0, at), file, word.substr(at + kPlace.size())));
  }
  return found ? words : std::vector<std::string>();
}

// Returns two commands, or one command with two configurations.
Result<TwoCommands> BothFrom(const Arguments& arguments) {
  // --baseline and --optimized name configurations, not commands.
  if (!arguments.Has("baseline") && !arguments.Has("optimized")) return CommandsFrom(arguments);
  if (!arguments.Has("baseline") || !arguments.Has("optimized"))
    return Fail(ErrorCode::kUsage, "--baseline and --optimized must be given together");
  TwoCommands both{WithConfig(arguments.command(), arguments.Value("baseline")),
                   WithConfig(arguments.command(), arguments.Value("optimized"))};
  if (!both.first.empty()) return both;
  return Fail(ErrorCode::kUsage, "cannot place the configuration: the command has no {config}",
              CommandText(arguments.command()), "write {config} for it: -- python train.py --config {config}");
}

// Reads all options before anything runs.
Result<ValidationQuestion> QuestionFrom(const Arguments& arguments) {
  GAPLESS_ASSIGN(auto both, BothFrom(arguments));
  GAPLESS_ASSIGN(auto plan, PairPlanFrom(arguments, std::move(both)));
  GAPLESS_ASSIGN(const auto options, PairOptionsFrom(arguments));
  GAPLESS_ASSIGN(const auto effect, ShareFrom(arguments, "threshold", kDefaultEffect));
  ValidationQuestion question{.pairs = std::move(plan), .options = options};
  if (arguments.Has("allow")) question.allow = *SafetyNamed(arguments.Value("allow"));
  question.higher_is_better = arguments.Has("higher-is-better");
  question.history.branch = arguments.Value("baseline-branch", "main");
  question.history.effect = effect;
  question.commit_sha = arguments.Value("commit");
  question.branch = arguments.Value("branch");
  question.label = arguments.Value("label");
  question.record = !arguments.Has("no-record");
  return question;
}

// Opens the history before anything runs: a wrong --db would otherwise cost all pairs.
Result<Validation> Validate(const Arguments& arguments, ValidationQuestion& question, const Session& session) {
  std::string same = WhyNothingDiffers({question.pairs.a.command, question.pairs.b.command});
  if (same.empty() && arguments.Has("baseline"))
    same = WhyNoConfigurationDiffers(arguments.Value("baseline"), arguments.Value("optimized"));
  if (!same.empty()) return NothingDiffers(question, std::move(same));
  GAPLESS_ASSIGN(auto history, question.record ? History::Open(arguments.Value("db"))
                                               : History::OpenToRead(arguments.Value("db"), History::IfAbsent::kEmpty));
  PairProgress progress("validating", session.stderr_is_tty);
  question.on_begin = [&](PairPlan& plan, const Comparison& comparison) { progress.Follow(plan, comparison); };
  return ValidateOptimization(question, history);
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  GAPLESS_ASSIGN(auto question, QuestionFrom(arguments));
  GAPLESS_ASSIGN(const auto validation, Validate(arguments, question, session));
  const auto json = [&] { return ValidationJson(validation, question.pairs); };
  // The file is written in any case, accepted or not: it is the record of the decision.
  if (arguments.Has("output")) GAPLESS_TRY(WriteFile(arguments.Value("output"), json()));
  const bool is_told =
      validation.comparison.Verdict() != SpeedVerdict::kCannotTell || !validation.nothing_differs.empty();
  const Told told = validation.IsAccepted() ? Told::kYes : is_told ? Told::kNo : Told::kCannotTell;
  return Answer(
      arguments, StatusOf(arguments, told, 1), [&] { return ValidationText(validation, question.pairs); }, json);
}

std::vector<std::string_view> Changes() { return {"exact", "rounding", "stochastic", "training"}; }

constexpr OptionSpec kOptions[] = {
    {.name = "allow",
     .takes = kTakesValue,
     .value = "CHANGE",
     .help =
         "Accept changes of the training up to this class (stochastic: other random numbers of the same distribution)",
     .choices = Changes},
    {.name = "baseline",
     .takes = kTakesValue,
     .value = "FILE",
     .help = "Replace {config} in the command by this for the first command"},
    {.name = "optimized",
     .takes = kTakesValue,
     .value = "FILE",
     .help = "Replace {config} in the command by this for the second command"},
    {.name = "output",
     .letter = 'o',
     .takes = kTakesValue,
     .value = "FILE",
     .help = "Write the JSON to FILE in addition: validation_report.json"},
    {.name = "db",
     .takes = kTakesValue,
     .value = "URL",
     .help = "Use the history at URL: sqlite:FILE or postgresql://…"},
    kStrictOption,
    {.name = "baseline-branch",
     .takes = kTakesValue,
     .value = "BRANCH",
     .help = "Judge the second command against the history of BRANCH (main)"},
    {.name = "threshold", .takes = kTakesValue, .value = "SHARE", .help = "Report regressions of at least SHARE (5%)"},
    {.name = "commit", .takes = kTakesValue, .value = "SHA", .help = "Set the commit of the result (git's)"},
    {.name = "branch", .takes = kTakesValue, .value = "NAME", .help = "Set the branch of the result (git's)"},
    {.name = "label",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Name the benchmark, if the history holds several"},
    {.name = "no-record", .help = "Do not record the result in the history"},
    kPairsOption,
    kBudgetOption,
    kMarginOption,
    kAOption,
    kBOption,
    kWarmupOption,
    kStepsOption,
    kPatternOption,
    kHigherIsBetterOption,
    kMetricOption,
    kWholeOption,
    kToTheEndOption,
    kTimeoutOption,
    kStepFunctionOption,
    kPinOption,
    kSeedOption,
    kShowOutputOption,
};
constexpr const TypeInfo* kDocuments[] = {&kValidateDocument};
constexpr Example kExamples[] = {
    {"gapless validate -- python train.py -- python train.py --amp", "Is --amp faster, and does it learn the same?"},
    {"gapless validate --baseline a.yaml --optimized b.yaml -- python train.py --config {config}",
     "One command with two configurations"},
};

}  // namespace

COMMAND(validate) = {
    .name = "validate",
    .help = "Prove an optimisation: faster, the same training, no regression",
    .about =
        "Runs the original and the optimised command in pairs, as compare does, checks that both are the same"
        " training, as same does, judges the optimised command against the history of the branch, as gate "
        "does, and records it there if it is accepted. It is accepted if it is faster, trains the same (up to"
        " rounding, or with other random numbers), and is no regression.\n\nThe exit status is 0 if it is "
        "accepted, else 1; the reasons are named.",
    .positionals = {},
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
