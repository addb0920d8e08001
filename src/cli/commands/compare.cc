// SPDX-License-Identifier: Apache-2.0
// The command `gapless compare`: runs two commands in pairs, or compares existing log ratios (--ratios) or two files of
// results.
//
// The three ways differ in what they can prove. Pairs in random order are proof, and may stop as soon as they are
// decided. Ratios of pairs from elsewhere are judged by the same sequence. Two files are independent samples, and get a
// verdict only if each value is a process (compare/stored.h). The exit status is 0 if B is faster, else 1; with
// --threshold it is 1 only where a series of a file is slower by more.
#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "cli/pair_progress.h"
#include "cli/pairs.h"
#include "proof/same_training.h"
#include "proof/stored.h"
#include "report/compare/document.h"
#include "report/compare/report.h"
#include "report/next.h"
#include "store/result_reader.h"

namespace gapless::internal::compare_command {
namespace {

struct CompareArguments : PairArguments {
  std::vector<std::string> files{};
  bool no_same = false;
  std::string ratios{}, series{}, column{};  // empty: not given
  std::optional<Sampling> values{};
  std::optional<double> threshold{};
  static constexpr OptionList kOptions{
      kPairOptions,
      Flag<&CompareArguments::no_same>("Skip the check that B is the same training as A, which takes three short runs"),
      Text<&CompareArguments::ratios>("FILE",
                                      "Read ln(time of B / time of A) of existing pairs from FILE, one number a line"),
      Text<&CompareArguments::series>("NAME", "Compare this series alone, if a file holds several"),
      Text<&CompareArguments::column>("NAME", "Read this column of a CSV file, given by name or number"),
      Choice<&CompareArguments::values, AnyOf<Sampling::kProcess, Sampling::kIteration>>(
          "WHAT", "State what a value in the files is, if the files do not record it"),
      Parsed<&CompareArguments::threshold, ReadShare>(
          "SHARE", "Of files: exit with 1 if B is slower by more than SHARE, else 0"),
      kStrictOption,
  };
  static constexpr WordList kWords{
      Word<&CompareArguments::files>("FILE", "two files of results instead of two commands, or one that holds several")
          .Times(0, 2)
          .Path()};
};

// Runs pairs until the comparison is decided, then the short runs that show if both are the same training.
Result<void> Run(const CompareArguments& arguments, const PairPlan& plan, Comparison& comparison,
                 const Session& session) {
  PairProgress progress("comparing", session.shows_progress);
  PairPlan shown = plan;
  progress.Follow(shown, comparison);
  GAPLESS_TRY(RunPairs(shown, comparison, [&] { return !comparison.IsDecided(); }));
  if (!arguments.no_same) GAPLESS_TRY(AskWhetherSame(shown, comparison));
  return {};
}

// The evidence holds whenever one stops, so that the pairs until an interruption are an answer. The exit status is then
// that of the signal (cli/app.cc).
Result<Comparison> Compare(const CompareArguments& arguments, const PairPlan& plan, Comparison comparison,
                           const Session& session) {
  const auto ran = Run(arguments, plan, comparison, session);
  if (ran) return comparison;
  if (ran.error().code != ErrorCode::kInterrupted) return Unexpected{ran.error()};
  if (comparison.pairs() == 0) return Fail(ErrorCode::kInterrupted, "interrupted after 0 pairs: nothing is known yet");
  comparison.SetInterrupted();
  return comparison;
}

// Returns 0 if B is faster and 1 if not; with --strict 5 if it cannot be told.
int StatusFor(const CompareArguments& arguments, SpeedVerdict verdict) {
  const Told told = verdict == SpeedVerdict::kCannotTell ? Told::kCannotTell
                    : verdict == SpeedVerdict::kFaster   ? Told::kYes
                                                         : Told::kNo;
  return StatusOf(arguments, told, 1);
}

// Returns the status by the plain ratio, if that was asked for; a failed side is never fine.
int StatusFor(const CompareArguments& arguments, const StoredAnswer& answer) {
  if (!answer.threshold || !answer.failed.empty()) return StatusFor(arguments, answer.Verdict());
  if (!answer.BeyondThreshold().empty()) return 1;
  return StatusOf(arguments, answer.Verdict() == SpeedVerdict::kCannotTell ? Told::kCannotTell : Told::kYes, 0);
}

// Judges pairs that were measured elsewhere, in the order of the file.
Result<int> ExecuteRatios(const CompareArguments& arguments) {
  const PairOptions options{.margin = arguments.margin};
  GAPLESS_ASSIGN(const auto file, ReadResultFile(arguments.ratios, arguments.column));
  if (file.series.size() != 1)
    return Fail(ErrorCode::kInput, "cannot read the ratios: the file must hold one series", arguments.ratios);
  PairSequence sequence(options);
  for (const double log_ratio : file.series[0].values) sequence.Add(log_ratio);
  return Answer(
      arguments, StatusFor(arguments, sequence.Verdict()), [&] { return RatiosText(sequence, options); },
      [&] { return RatiosJson(sequence, options); });
}

// Recordings are no results of a benchmark; two of them have verbs of their own.
Error NoResults(const CompareArguments& arguments, Error error) {
  std::error_code unknown;
  const auto& files = arguments.files;
  if (files.size() != 2 ||
      !std::ranges::all_of(files, [&](const auto& f) { return std::filesystem::exists(f, unknown); }))
    return error;
  const std::string both = StrCat(ShellWord(files[0]), " ", ShellWord(files[1]));
  const std::string of_recordings = StrCat("gapless why ", both, " (recordings: what changed; or gapless diff)");
  error.hint = std::filesystem::is_directory(files[0], unknown) ? of_recordings
                                                                : StrCat(of_recordings, "; results: ", error.hint);
  return error;
}

// Reads one file or two, and compares.
Result<StoredAnswer> AnswerOf(const CompareArguments& arguments, const StoredOptions& options) {
  const auto& files = arguments.files;
  auto a = ReadResultFile(files[0], arguments.column);
  if (!a) return Unexpected{NoResults(arguments, std::move(a.error()))};
  if (files.size() == 1) return CompareWithin(*a, options);
  GAPLESS_ASSIGN(const auto b, ReadResultFile(files[1], arguments.column));
  return CompareFiles(*a, b, options);
}

// Compares files of results; nothing is run.
Result<int> ExecuteStored(const CompareArguments& arguments) {
  if (!arguments.command.empty() || arguments.a || arguments.b)
    return Fail(ErrorCode::kUsage, "compare takes files or two commands", "", "gapless compare before.json after.json");
  StoredOptions options{.series = arguments.series, .margin = arguments.margin};
  if (arguments.values) options.sampling = *arguments.values;
  if (arguments.higher_is_better) options.higher_is_better = true;
  GAPLESS_ASSIGN(auto answer, AnswerOf(arguments, options));
  answer.threshold = arguments.threshold;
  return Answer(
      arguments, StatusFor(arguments, answer), [&] { return StoredText(answer); }, [&] { return StoredJson(answer); });
}

// Chooses the way by what is given: --ratios, two files, or two commands.
Result<int> Execute(const CompareArguments& arguments, Session& session) {
  if (!arguments.ratios.empty()) return ExecuteRatios(arguments);
  if (!arguments.files.empty()) return ExecuteStored(arguments);
  if (arguments.threshold)
    return Fail(ErrorCode::kUsage, "--threshold is for files of results", "",
                "gapless gate --against REV --threshold 10% -- CMD runs a command and an older commit of it");
  GAPLESS_ASSIGN(auto commands, CommandsFrom(arguments));
  GAPLESS_ASSIGN(const auto plan, PairPlanFrom(arguments, std::move(commands)));
  GAPLESS_ASSIGN(
      const auto comparison,
      Compare(arguments, plan, Comparison({.margin = arguments.margin}, arguments.higher_is_better), session));
  return Answer(
      arguments, StatusFor(arguments, comparison.Verdict()),
      [&] { return StrCat(CompareText(comparison, plan), NextText(NextOf(comparison, plan))); },
      [&] { return CompareJson(comparison, plan); });
}

constexpr const TypeInfo* kDocuments[] = {&kCompareDocument, &kRatiosDocument, &kStoredDocument};
constexpr Example kExamples[] = {
    {"gapless compare -- python train.py -- python train.py --amp", "Is the second one faster?"},
    {"gapless compare --margin 2% --pairs 60 --a 'OMP_NUM_THREADS=1 python t.py' --b 'python t.py'",
     "The same up to 2 %, with commands for a shell"},
    {"gapless compare before.json after.json", "Two stored results, of hyperfine, pyperf and others, too"},
    {"gapless compare both.json", "Two commands whose results are in one file"},
    {"gapless compare --threshold 10% old.json new.json", "Fail if a benchmark got slower by more than 10 %"},
};

}  // namespace

COMMAND(compare) = {
    .name = "compare",
    .place = {groups::kProve, 1},
    .help = "Decide which of two commands is faster",
    .about =
        "Runs both commands in pairs of fresh processes, in random order, and judges after every pair: B is "
        "faster, slower, equivalent, or no decision is possible. The unit is the process, summarised by its "
        "mean step after warm-up, or by its whole time if no steps are detected; programs that train on are "
        "stopped after the measurement.\n\nThe interval and the p value stay valid when checked after every "
        "pair, with drift and outliers (docs/STATISTICS.md). The exit status is 0 if B is faster, else "
        "1.\n\nTwo files of results are compared directly, series by series; of one file the first series is A. "
        "If a value is a process, there is a verdict. Iterations of one process each, and single numbers, support "
        "no verdict, and the output describes the difference only. Where runs or requests failed there is none, "
        "and a file without any other run is bad input (exit status 3).",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::compare_command
