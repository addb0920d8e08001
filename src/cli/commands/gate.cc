// SPDX-License-Identifier: Apache-2.0
// The command `gapless gate`: judges a result against the history of a branch, or the working tree against a commit,
// and writes the judgement in the requested formats.
//
// Against a history one result is compared with the level of earlier runs (proof/judge_record.h); if a command is
// given, fresh runs refute or confirm an alarm. Against a commit both are run here in pairs, which needs no history.
// Formats of
// --write are files beside the output. The exit status is 0 unless there is a regression: "cannot tell" does not fail a
// pipeline, unless --strict says so. A result of which runs failed is bad input.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/history_actions.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "proof/judgement.h"
#include "proof/measure.h"
#include "proof/result_json.h"
#include "report/compare/report.h"
#include "report/gate/document.h"
#include "report/gate/report.h"
#include "store/result_reader.h"

namespace gapless::internal::gate_command {
namespace {

using GateForm = std::string (*)(const Judgement& judgement);
constexpr Choosable<GateForm> kForms[] = {{"text", GateText},   {"json", GateJson},   {"markdown", GateMarkdown},
                                          {"junit", GateJunit}, {"sarif", GateSarif}, {"github", GateGithub}};
struct FormToWrite {
  GateForm form;
  std::string file;
};
// FORM=FILE,…
Result<std::vector<FormToWrite>> ReadForms(const OptionSpec& option, std::string_view text) {
  GAPLESS_ASSIGN(const auto items, option::ReadItems(option, text));
  const std::vector<std::string_view> names = OneOf<kForms>::All();
  std::vector<FormToWrite> forms;
  for (const std::string& item : items) {
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = std::string_view(item).substr(0, equals);
    if (std::ranges::find(names, name) == names.end() || equals + 1 >= item.size())
      return Fail(ErrorCode::kUsage, "--write takes FORM=FILE", Printable(item),
                  "--write markdown=gate.md,junit=gate.xml");
    forms.push_back({OneOf<kForms>::Named(name), item.substr(equals + 1)});
  }
  return forms;
}

struct GateArguments : MeasureArguments, HistoryOptions {
  std::optional<std::string> result{}, against{};
  std::string baseline = "main", build{};
  std::vector<std::string> share{}, gate{};
  size_t pairs = 60;
  double budget = 1800, threshold = 0.05;  // seconds, and a share
  bool naive = false, record = false;
  GateForm format = GateText;
  std::vector<FormToWrite> write{};
  static constexpr OptionList kOptions{
      Text<&GateArguments::baseline>("BRANCH", "Judge against the history of BRANCH (main)"),
      Text<&GateArguments::against>("REV", "Compare this commit with the working tree in paired runs instead"),
      Text<&GateArguments::build>(
          "CMD", "Run this shell command once in each commit's checkout; HEAD then runs in a checkout, too"),
      Text<&GateArguments::share>("PATH", "Link to this file or folder, which git does not track, in each checkout"),
      Number<&GateArguments::pairs>("N", "Give up after N pairs (60)", 6, kMaxPairs),
      Parsed<&GateArguments::budget, ReadTime>("TIME",
                                               "With --against, give up after this time, builds included (30m)"),
      Parsed<&GateArguments::threshold, ReadShare>("SHARE", "Report changes of at least SHARE (5%)"),
      List<&GateArguments::gate>("LIST", "Judge these metrics (samples_per_second, else the median step time)"),
      Flag<&GateArguments::naive>("Use a simple rule instead: fail below 95 % of the mean of the last ten runs"),
      kStrictOption,
      Flag<&GateArguments::record>("Record the result in the history, with its verdict"),
      Choice<&GateArguments::format, OneOf<kForms>>("FORM", "Set the output's format"),
      Parsed<&GateArguments::write, ReadForms>(
          "LIST", "Write other formats to files in addition: junit=gate.xml,sarif=gate.sarif"),
      kDbOption,
      kLabelOption,
      kBranchOption,
      kCommitOption,
      List<&HistoryOptions::metric>("LIST", "Add metrics to the result: NAME=NUMBER,…"),
      kColumnOption,
      kWarmupOption,
      kStepsOption,
      kPatternOption,
      kWholeOption,
      kProcessOptions,
  };
  static constexpr WordList kWords{
      Word<&GateArguments::result>("RESULT", "a file of results, or one that holds a history (data.js)")
          .Optional()
          .Path()};
};

// Measures the command once, as a record; what was given by options wins over what was found.
Result<BenchmarkRecord> MeasuredRecord(const GateArguments& arguments, const RunRequest& request) {
  GAPLESS_ASSIGN(auto sample, RunMeasured(request));
  auto record = RecordOf({std::move(sample)}, request.command);
  if (record) TakeGiven(arguments, *record);
  return record;
}

HistoryQuestion QuestionFrom(const GateArguments& arguments) {
  HistoryQuestion question{
      .branch = arguments.baseline, .metrics = arguments.gate, .is_new = arguments.record, .naive = arguments.naive};
  question.effect = arguments.threshold;
  return question;
}

// Refuses results of which runs failed, unless the metrics that were named are others.
Result<void> CheckFailed(const ResultFile& file, const std::vector<std::string>& named) {
  for (const FailedRuns& failed : file.failed) {
    const bool concerns =
        named.empty() || failed.series.empty() || std::ranges::find(named, failed.series) != named.end();
    if (concerns && !failed.may_be_left_out)
      return Fail(ErrorCode::kInput, StrCat("cannot judge this result: ", DescribeFailed(failed)), "",
                  "mend what fails and measure again; --gate NAME,… judges others alone");
  }
  return {};
}

// Judges the last run of a file that holds a history against those before it.
Result<Judgement> WithinFile(const GateArguments& arguments, ResultFile file, HistoryQuestion question) {
  if (arguments.record)
    return Fail(ErrorCode::kUsage, "--record is for one result, and this file holds a history", *arguments.result,
                "gapless history import FILE takes all of its runs");
  const std::string suite = arguments.label.value_or(file.runs.back().benchmark);
  std::erase_if(file.runs, [&](const BenchmarkRecord& run) { return run.benchmark != suite; });
  if (file.runs.empty()) return Fail(ErrorCode::kInput, "the file has no suite of this name", suite);
  BenchmarkRecord current = std::move(file.runs.back());
  file.runs.pop_back();
  question.is_new = true;
  return JudgeRecord(current, std::move(file.runs), *arguments.result, question);
}

// The run is stored together with its verdicts, in one transaction.
Result<void> Store(BenchmarkRecord current, History& history, Judgement& judgement) {
  current.verdicts = judgement.verdicts;
  if (current.uid.empty()) current.uid = NewUid();
  GAPLESS_ASSIGN(const auto recorded, history.Record(current));
  const std::string_view as = judgement.IsRegression() ? ", as a regression: no baseline learns from it"
                              : judgement.IsPending()  ? ", pending: no baseline learns from it yet"
                                                       : "";
  judgement.notes.push_back(StrCat("recorded as run ", recorded.id, as));
  return {};
}

// Judges a result that is given or measured now. With --record the run and its verdicts are stored together, so that a
// regression never becomes part of its own baseline.
Result<Judgement> AgainstHistory(const GateArguments& arguments) {
  HistoryQuestion question = QuestionFrom(arguments);
  RunRequest request;
  if (!arguments.command.empty()) {
    GAPLESS_ASSIGN(request, RequestFrom(arguments, arguments.command));
    question.measure_again = [&] { return MeasuredRecord(arguments, request); };
  }
  std::optional<ResultFile> file;
  if (arguments.result) {
    GAPLESS_ASSIGN(auto read, ReadResultFile(*arguments.result, arguments.column));
    GAPLESS_TRY(CheckFailed(read, question.metrics));
    if (!read.runs.empty()) return WithinFile(arguments, std::move(read), std::move(question));
    file.emplace(std::move(read));
  }
  const bool given = file || !arguments.metric.empty();
  if (!given && !question.measure_again)
    return Fail(ErrorCode::kUsage, "nothing to judge: no file, no --metric and no command", "",
                "name a file of results, give --metric NAME=NUMBER, or a command after --");
  GAPLESS_ASSIGN(auto current, given ? RecordOf(arguments, file ? &*file : nullptr) : question.measure_again());
  // A branch that is judged before the first run was recorded has a baseline without runs.
  GAPLESS_ASSIGN(auto history, arguments.record ? History::Open(arguments.db)
                                                : History::OpenToRead(arguments.db, History::IfAbsent::kEmpty));
  auto judgement = JudgeRecord(current, history, question);
  if (judgement && history.is_absent())
    judgement->notes.push_back(StrCat("there is no history yet in ", history.place()));
  if (judgement && arguments.record) GAPLESS_TRY(Store(std::move(current), history, *judgement));
  return judgement;
}

// Judges the working tree against a commit in pairs.
Result<Judgement> AgainstCommit(const GateArguments& arguments, const Session& session) {
  GAPLESS_ASSIGN(auto request, RequestFrom(arguments, arguments.command));
  ProgressLine progress(ProgressLine::AtOnce{});
  const auto say = [&](size_t done, const Comparison& comparison) {
    if (!session.shows_progress) return;
    progress.Update("judging", done == 0 ? "the first pair runs" : SpeedupInShort(comparison), done, arguments.pairs,
                    [](uint64_t count) { return StrCat(count, " pairs at most"); });
  };
  return JudgeCommit({.against = *arguments.against,
                      .build = arguments.build,
                      .shared = arguments.share,
                      .request = std::move(request),
                      .effect = arguments.threshold,
                      .pattern_value = !arguments.pattern.empty(),
                      .most_pairs = arguments.pairs,
                      .budget_s = arguments.budget,
                      .seed = std::random_device()(),
                      .on_run = say});
}

// Returns the first word of the command that is a file here, else the file of results, else "". Absolute paths are left
// out, because viewers of SARIF look below the repository's root.
std::string PlaceOf(const GateArguments& arguments) {
  std::vector<std::string> words = arguments.command;
  if (arguments.result) words.push_back(*arguments.result);
  for (const std::string& word : words) {
    std::error_code ignored;
    if (!word.empty() && word[0] != '/' && std::filesystem::is_regular_file(word, ignored)) return word;
  }
  return "";
}

int StatusFor(const GateArguments& arguments, const Judgement& judgement) {
  const Told told = judgement.IsRegression()                    ? Told::kNo
                    : judgement.Kind() == GateKind::kCannotTell ? Told::kCannotTell
                                                                : Told::kYes;
  return StatusOf(arguments, told, 0);
}

// Judges, writes the files of --write, then prints. A file that cannot be written is an error, whatever the verdict.
// Prints what an interruption left, too; the exit status is then that of the signal (cli/app.cc).
Result<int> Execute(const GateArguments& arguments, Session& session) {
  GAPLESS_ASSIGN(auto judgement, arguments.against ? AgainstCommit(arguments, session) : AgainstHistory(arguments));
  judgement.place = PlaceOf(arguments);
  for (const auto& [form, file] : arguments.write) GAPLESS_TRY(WriteFile(file, form(judgement)));
  return Answer(
      arguments, StatusFor(arguments, judgement), [&] { return arguments.format(judgement); },
      [&] { return GateJson(judgement); });
}

constexpr const TypeInfo* kDocuments[] = {&kGateDocument};
constexpr Example kExamples[] = {
    {"gapless gate --against main -- python bench.py", "Is the working tree slower than main? Both run here, in pairs"},
    {"gapless gate result.json --format markdown", "Against the history of main, as a comment on a pull request"},
    {"gapless gate --record --baseline main -- python bench.py",
     "Judges, refutes an alarm by fresh runs, and remembers"},
};

}  // namespace

COMMAND(gate) = {
    .name = "gate",
    .place = {groups::kGuard, 1},
    .help = "Fail if a command is slower than its history or another commit",
    .about =
        "Judges a result in one of two ways. With --against, the commit is checked out beside the repository,"
        " and both run in pairs on this machine until the comparison is decided; that needs no history and "
        "tolerates noise best. Otherwise the result is judged against the runs of the baseline branch since "
        "their last change of level. One slow run is no regression: its alarm is pending, and becomes one when "
        "several runs agree. The rate of false alarms that is stated was simulated for noise like that of the history "
        "(docs/CHANGE_POINTS.md). Runs on several machines are judged each at the level of its host. If a command is "
        "given, three to six fresh runs refute an alarm at once; being of one machine, they confirm one only where 75 "
        "past runs show that it is never so slow.\n\n"
        "The exit status is 1 for a regression, and 0 otherwise; --strict makes it 5 where it cannot tell, which "
        "a pending alarm is. Every answer includes the smallest change that it could detect.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::gate_command
