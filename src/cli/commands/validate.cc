// SPDX-License-Identifier: Apache-2.0
// The command `gapless validate`: compares the original with the optimised command, checks that both are the same
// training, and judges the result against the history.
//
// It accepts only if all three agree; each reason against is named. An accepted result is recorded in the history
// unless --no-record is given. The exit status is 0 if it is accepted, else 1.
#include "base/redact.h"
#include "base/strings.h"
#include "cli/commands/validate/same_commands.h"
#include "cli/history_actions.h"
#include "cli/output.h"
#include "cli/pair_progress.h"
#include "cli/pairs.h"
#include "report/validate/report.h"

namespace gapless::internal::validate_command {
namespace {

struct ValidateArguments : PairArguments, HistoryOptions {
  std::optional<Safety> allow{};
  std::optional<std::string> baseline{}, optimized{};
  std::string output{}, baseline_branch = "main";
  double threshold = 0.05;
  bool no_record = false;
  static constexpr OptionList kOptions{
      Choice<&ValidateArguments::allow, AnyOf<Safety::kExact, Safety::kTraining>>(
          "CHANGE",
          "Accept changes of the training up to this class (stochastic: other random numbers of the same "
          "distribution)"),
      Text<&ValidateArguments::baseline>("FILE", "Replace {config} in the command by this for the first command"),
      Text<&ValidateArguments::optimized>("FILE", "Replace {config} in the command by this for the second command"),
      Text<&ValidateArguments::output>("FILE", "Write the JSON to FILE in addition: validation_report.json").Short('o'),
      kDbOption,
      kStrictOption,
      Text<&ValidateArguments::baseline_branch>("BRANCH",
                                                "Judge the second command against the history of BRANCH (main)"),
      Parsed<&ValidateArguments::threshold, ReadShare>("SHARE", "Report regressions of at least SHARE (5%)"),
      kCommitOption,
      kBranchOption,
      kLabelOption,
      Flag<&ValidateArguments::no_record>("Do not record the result in the history"),
      kPairOptions,
  };
};

constexpr std::string_view kPlace = "{config}";

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
Result<TwoCommands> BothFrom(const ValidateArguments& arguments) {
  // --baseline and --optimized name configurations, not commands.
  if (!arguments.baseline && !arguments.optimized) return CommandsFrom(arguments);
  if (!arguments.baseline || !arguments.optimized)
    return Fail(ErrorCode::kUsage, "--baseline and --optimized must be given together");
  TwoCommands both{WithConfig(arguments.command, *arguments.baseline),
                   WithConfig(arguments.command, *arguments.optimized)};
  if (!both.first.empty()) return both;
  return Fail(ErrorCode::kUsage, "cannot place the configuration: the command has no {config}",
              CommandText(arguments.command), "write {config} for it: -- python train.py --config {config}");
}

// Reads all options before anything runs.
Result<ValidationQuestion> QuestionFrom(const ValidateArguments& arguments) {
  GAPLESS_ASSIGN(auto both, BothFrom(arguments));
  GAPLESS_ASSIGN(auto plan, PairPlanFrom(arguments, std::move(both)));
  ValidationQuestion question{.pairs = std::move(plan), .options = {.margin = arguments.margin}};
  if (arguments.allow) question.allow = *arguments.allow;
  question.higher_is_better = arguments.higher_is_better;
  question.history.branch = arguments.baseline_branch;
  question.history.effect = arguments.threshold;
  question.commit_sha = arguments.commit.value_or("");
  question.branch = arguments.branch.value_or("");
  question.label = arguments.label.value_or("");
  question.record = !arguments.no_record;
  return question;
}

// Opens the history before anything runs: a wrong --db would otherwise cost all pairs.
Result<Validation> Validate(const ValidateArguments& arguments, ValidationQuestion& question, const Session& session) {
  std::string same = WhyNothingDiffers({question.pairs.a.command, question.pairs.b.command});
  if (same.empty() && arguments.baseline) same = WhyNoConfigurationDiffers(*arguments.baseline, *arguments.optimized);
  if (!same.empty()) return NothingDiffers(question, std::move(same));
  GAPLESS_ASSIGN(auto history, question.record ? History::Open(arguments.db)
                                               : History::OpenToRead(arguments.db, History::IfAbsent::kEmpty));
  PairProgress progress("validating", session.shows_progress);
  question.on_begin = [&](PairPlan& plan, const Comparison& comparison) { progress.Follow(plan, comparison); };
  return ValidateOptimization(question, history);
}

Result<int> Execute(const ValidateArguments& arguments, Session& session) {
  GAPLESS_ASSIGN(auto question, QuestionFrom(arguments));
  GAPLESS_ASSIGN(const auto validation, Validate(arguments, question, session));
  const auto json = [&] { return ValidationJson(validation, question.pairs); };
  // The file is written in any case, accepted or not: it is the record of the decision.
  if (!arguments.output.empty()) GAPLESS_TRY(WriteFile(arguments.output, json()));
  const bool is_told =
      validation.comparison.Verdict() != SpeedVerdict::kCannotTell || !validation.nothing_differs.empty();
  const Told told = validation.IsAccepted() ? Told::kYes : is_told ? Told::kNo : Told::kCannotTell;
  return Answer(
      arguments, StatusOf(arguments, told, 1), [&] { return ValidationText(validation, question.pairs); }, json);
}

constexpr const TypeInfo* kDocuments[] = {&kValidateDocument};
constexpr Example kExamples[] = {
    {"gapless validate -- python train.py -- python train.py --amp", "Is --amp faster, and does it learn the same?"},
    {"gapless validate --baseline a.yaml --optimized b.yaml -- python train.py --config {config}",
     "One command with two configurations"},
};

}  // namespace

COMMAND(validate) = {
    .name = "validate",
    .place = {groups::kProve, 2},
    .help = "Prove an optimisation: faster, same training, no regression",
    .about =
        "Runs the original and the optimised command in pairs, as compare does, checks that both are the same"
        " training, as same does, judges the optimised command against the history of the branch, as gate "
        "does, and records it there if it is accepted. It is accepted if it is faster, trains the same (up to"
        " rounding, or with other random numbers), and is no regression.\n\nThe exit status is 0 if it is "
        "accepted, else 1; the reasons are named.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::validate_command
