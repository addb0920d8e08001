// SPDX-License-Identifier: Apache-2.0
// The command `gapless same`: makes the recordings that the decision needs, or reads existing ones, and prints if two
// commands are the same training.
//
// docs/parity.md has the rule. The exit status is 0 for the same training, 1 for another one, and 5 if no decision is
// possible or a command fails. With --exact, only a training that is the same bit for bit counts as the same.
#include "base/described_json.h"
#include "base/redact.h"
#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/output.h"
#include "cli/pairs.h"
#include "cli/progress.h"
#include "proof/described.h"
#include "proof/same_training.h"

namespace gapless::internal::same_command {
namespace documents {

// A recording that is missing to decide.
struct NeededRun {
  std::string role{}, name{};
  double noise = 0;
  bool wide = false;
  int reseed = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&NeededRun::role>("role", "", "what it is compared as"),
      Field<&NeededRun::name>("name", "", "name of its recording"),
      Field<&NeededRun::noise>("noise", "", "relative noise on the weights"),
      Field<&NeededRun::wide>("wide", "", "noise on the state of recurrent layers, too"),
      Field<&NeededRun::reseed>("reseed", "", "other random numbers"),
  };
};

// The whole document. `needs` is filled in only for recordings that were made elsewhere.
struct Same {
  internal::documents::Parity parity{};
  std::optional<std::string> a_command{}, b_command{};
  std::vector<NeededRun> needs{};
  static constexpr FieldInfo kFields[] = {
      Spliced<&Same::parity>(),
      Field<&Same::a_command>("a_command", "", "command of A"),
      Field<&Same::b_command>("b_command", "", "command of B"),
      Field<&Same::needs>("needs", "", "runs that would decide it; with --recordings", kUnlessEmpty),
  };
};

}  // namespace documents

namespace {

struct SameArguments : PairArguments {
  std::optional<Precision> claim{};
  bool exact = false;
  std::optional<int> steps{};  // absent: as many as two minutes allow, at most 20
  std::string recordings{};    // empty: not given
  static constexpr OptionList kOptions{
      Choice<&SameArguments::claim, AnyOf<Precision::kFp32, Precision::kBf16>>(
          "PRECISION", "Allow rounding to this precision (the finest at which B is the same training as A)"),
      Flag<&SameArguments::exact>("Accept only losses and parameters that are the same, bit for bit"),
      Number<&SameArguments::steps>(
          "N", "Compare the first N optimiser steps (20; fewer if they take more than 2 minutes)", 5, 1000),
      Text<&SameArguments::recordings>("DIR", "Compare existing recordings in DIR (docs/parity.md lists their files)"),
      kTwoCommandsOptions,
      kProcessOptions,
      kShowOutputOption,
  };
};

constexpr int kDefaultSteps = 20;
constexpr double kDefaultSeconds = 120;
constexpr int kOtherTrainingStatus = 1, kCannotTellStatus = 5;

// Reads the commands and what to compare. Without --steps two minutes limit the recording.
Result<SameQuestion> QuestionFrom(const SameArguments& arguments) {
  GAPLESS_ASSIGN(auto commands, CommandsFrom(arguments));
  GAPLESS_ASSIGN(auto a, RequestFrom(arguments, std::move(commands.first)));
  GAPLESS_ASSIGN(auto b, RequestFrom(arguments, std::move(commands.second)));
  SameQuestion question{.a = std::move(a), .b = std::move(b)};
  question.plan = {.steps = arguments.steps.value_or(kDefaultSteps), .seconds = kDefaultSeconds};
  // 0 is no limit.
  if (arguments.steps) question.plan.seconds = 0;  // as many as were asked for, however long they take
  question.claim = arguments.claim;
  question.exact = arguments.exact;
  return question;
}

// Prints the verdict and returns the exit status for it.
Result<int> AnswerWith(const SameArguments& arguments, const ParityReport& report, documents::Same document) {
  document.parity = ParityDocument(report);
  const auto text = [&] {
    std::string words = report.reason + "\n";
    if (!report.differences.empty()) words += "The programs differ:\n";
    for (const std::string& one : report.differences) words += StrCat("  ", one, "\n");
    return words;
  };
  const auto json = [&] { return DocumentOf("same", document); };
  auto printed = PrintTextOrJson(arguments, text, json);
  if (!printed) return printed;
  if (report.verdict == ParityVerdict::kCannotTell) return kCannotTellStatus;
  const bool other = !IsSameTraining(report) || (arguments.exact && report.verdict != ParityVerdict::kExact);
  return other ? kOtherTrainingStatus : 0;
}

// Decides on recordings that were made before, and lists those that are still missing.
Result<int> DecideOnRecordings(const SameArguments& arguments) {
  GAPLESS_ASSIGN(auto parity, TrainingParity::Open(arguments.recordings));
  GAPLESS_ASSIGN(const auto report, parity.Look(arguments.claim, arguments.exact));
  documents::Same document;
  for (const ParityOptions& run : parity.Needed(report))
    document.needs.push_back(
        {std::string(run.role), run.folder.substr(run.folder.rfind('/') + 1), run.noise, run.wide, run.reseed});
  return AnswerWith(arguments, report, std::move(document));
}

// The progress line is gone before the answer is printed.
Result<int> Execute(const SameArguments& arguments, Session& session) {
  if (!arguments.recordings.empty()) return DecideOnRecordings(arguments);
  GAPLESS_ASSIGN(const auto question, QuestionFrom(arguments));
  const auto report = [&] {
    ProgressLine progress;
    SameQuestion asked = question;
    if (session.shows_progress)
      asked.on_run = [&](std::string_view what) {
        progress.Update("recording", what, 0, 0, [](uint64_t) { return std::string(); });
      };
    return AskWhetherSame(asked);
  }();
  GAPLESS_TRY(report);
  return AnswerWith(arguments, *report,
                    {.a_command = CommandText(question.a.command), .b_command = CommandText(question.b.command)});
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Same>::kInfo};
constexpr Example kExamples[] = {
    {"gapless same -- python train.py -- python train.py --fused", "Does --fused change more than rounding?"},
    {"gapless same --claim bf16 -- python train.py -- python train.py --amp", "Up to rounding to bfloat16"},
    {"gapless same -- python train.py -- gapless run --recipe optimized/optimized.json -- python train.py",
     "Does a recipe leave the training as it is?"},
};

}  // namespace

COMMAND(same) = {
    .name = "same",
    .place = {groups::kProve, 3},
    .help = "Decide if two commands are the same training, up to rounding",
    .about =
        "Runs A twice and B once, each for the first 20 optimiser steps. B gets A's parameters after every "
        "step, so that each step is compared from the same point. Gradients are compared with the effect of "
        "rounding (the second run of A, with noise of that size on its weights), updates with a plain "
        "optimiser of the same class and settings. What the programs are is compared, too: transforms, sampler, "
        "dropout, "
        "loss, clipping, schedule, code. docs/parity.md has the rule, its limits and its error "
        "rates.\n\nThe program needs PyTorch and an optimiser of torch.optim. The exit status is 0 if B is "
        "the same training (bit for bit, up to rounding, or with other random numbers of the same "
        "distribution), 1 if it is another one (with --exact: if it is not the same bit for bit), 5 if no decision "
        "is possible or a command fails.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::same_command
