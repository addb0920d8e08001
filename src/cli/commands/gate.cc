// SPDX-License-Identifier: Apache-2.0
// The command `gapless gate`: judges a result against the history of a branch, or the working tree against a commit,
// and writes the judgement in the requested formats.
//
// Against a history one result is compared with the level of earlier runs (proof/judge_record.h); if a command is
// given, fresh runs confirm an alarm. Against a commit both are run here in pairs, which needs no history. Formats of
// --write are files beside the output. The exit status is 0 unless there is a regression: "cannot tell" does not fail a
// pipeline.
#include <algorithm>
#include <filesystem>
#include <random>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/compare/report.h"
#include "cli/commands/gate/document.h"
#include "cli/commands/gate/report.h"
#include "cli/commands/history/actions.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "proof/judgement.h"
#include "proof/measure.h"
#include "proof/result_json.h"

namespace gapless::internal {
namespace {

constexpr double kDefaultEffect = 0.05;
constexpr int64_t kDefaultPairs = 60, kMaxPairs = 10'000;

// Measures the command once, as a record; what was given by options wins over what was found.
Result<BenchmarkRecord> MeasuredRecord(const Arguments& arguments, const RunRequest& request) {
  auto sample = RunMeasured(request);
  if (!sample) return Unexpected{sample.error()};
  auto record = RecordOf({std::move(*sample)}, request.command);
  if (record) TakeGiven(arguments, *record);
  return record;
}

// Judges a result that is given or measured now. With --record the run and its verdicts are stored together, so that a
// regression never becomes part of its own baseline.
Result<Judgement> AgainstHistory(const Arguments& arguments) {
  HistoryQuestion question{.branch = std::string(arguments.Value("baseline", "main")),
                           .metrics = arguments.List("gate"),
                           .naive = arguments.Has("naive")};
  const auto effect = ShareFrom(arguments, "threshold", kDefaultEffect);
  if (!effect) return Unexpected{effect.error()};
  question.effect = *effect;
  const auto& files = arguments.positionals();
  RunRequest request;
  if (!arguments.command().empty()) {
    auto wanted = RequestFrom(arguments, arguments.command());
    if (!wanted) return Unexpected{wanted.error()};
    request = std::move(*wanted);
    question.measure_again = [&] { return MeasuredRecord(arguments, request); };
  }
  const bool given = !files.empty() || arguments.Has("metric");
  if (!given && !question.measure_again)
    return Fail(ErrorCode::kUsage, "nothing to judge: no file, no --metric and no command", "",
                "name a file of results, give --metric NAME=NUMBER, or a command after --");
  auto current = given ? RecordFromArguments(arguments, files.empty() ? "" : files[0]) : question.measure_again();
  if (!current) return Unexpected{current.error()};
  // A branch that is judged before the first run was recorded has a baseline without runs.
  auto history = arguments.Has("record") ? History::Open(arguments.Value("db"))
                                         : History::OpenToRead(arguments.Value("db"), History::IfAbsent::kEmpty);
  if (!history) return Unexpected{history.error()};
  auto judgement = JudgeRecord(*current, *history, question);
  if (judgement && history->is_absent())
    judgement->notes.push_back(StrCat("there is no history yet in ", history->place()));
  if (!judgement || !arguments.Has("record")) return judgement;
  // The run is stored together with its verdicts, in one transaction.
  current->verdicts = judgement->verdicts;
  if (current->uid.empty()) current->uid = NewUid();
  const auto recorded = history->Record(*current);
  if (!recorded) return Unexpected{recorded.error()};
  judgement->notes.push_back(StrCat("recorded as run ", recorded->id,
                                    judgement->IsRegression() ? ", as a regression: no baseline learns from it" : ""));
  return judgement;
}

// Judges the working tree against a commit in pairs.
Result<Judgement> AgainstCommit(const Arguments& arguments, const Session& session) {
  const auto effect = ShareFrom(arguments, "threshold", kDefaultEffect);
  if (!effect) return Unexpected{effect.error()};
  const auto pairs = arguments.Number("pairs", 6, kDefaultPairs);
  if (!pairs) return Unexpected{pairs.error()};
  auto request = RequestFrom(arguments, arguments.command());
  if (!request) return Unexpected{request.error()};
  ProgressLine progress;
  return JudgeCommit({.against = std::string(arguments.Value("against")),
                      .build = std::string(arguments.Value("build")),
                      .request = std::move(*request),
                      .effect = *effect,
                      .pattern_value = arguments.Has("pattern"),
                      .most_pairs = static_cast<size_t>(std::min(*pairs, kMaxPairs)),
                      .seed = std::random_device()(),
                      .on_pair = [&](const Comparison& comparison) {
                        if (session.stderr_is_tty)
                          progress.Update("judging", SpeedupInShort(comparison), comparison.pairs(),
                                          static_cast<uint64_t>(*pairs),
                                          [](uint64_t count) { return StrCat(count, " pairs at most"); });
                      }});
}

// Returns the first word of the command that is a file here, else the file of results, else "". Absolute paths are left
// out, because viewers of SARIF look below the repository's root.
std::string PlaceOf(const Arguments& arguments) {
  std::vector<std::string> words = arguments.command();
  words.insert(words.end(), arguments.positionals().begin(), arguments.positionals().end());
  for (const std::string& word : words) {
    std::error_code ignored;
    if (!word.empty() && word[0] != '/' && std::filesystem::is_regular_file(word, ignored)) return word;
  }
  return "";
}

// Writes the files of --write FORM=FILE,…
Result<void> WriteForms(const Arguments& arguments, const Judgement& judgement) {
  const std::vector<std::string_view> forms = GateFormats();
  for (const std::string& item : arguments.List("write")) {
    const size_t equals = std::min(item.find('='), item.size());
    const std::string form = item.substr(0, equals);
    if (std::find(forms.begin(), forms.end(), form) == forms.end() || equals + 1 >= item.size())
      return Fail(ErrorCode::kUsage, "--write takes FORM=FILE", Printable(item),
                  "--write markdown=gate.md,junit=gate.xml");
    GAPLESS_TRY(WriteFile(item.substr(equals + 1), GateAs(judgement, form)));
  }
  return {};
}

// Judges, writes the files of --write, then prints. A file that cannot be written is an error, whatever the verdict.
Result<int> Execute(const Arguments& arguments, Session& session) {
  auto judgement = arguments.Has("against") ? AgainstCommit(arguments, session) : AgainstHistory(arguments);
  if (!judgement) return Unexpected{judgement.error()};
  judgement->place = PlaceOf(arguments);
  GAPLESS_TRY(WriteForms(arguments, *judgement));
  const std::string_view format = arguments.Value("format", "text");
  return Answer(
      arguments, !judgement->IsRegression(), [&] { return GateAs(*judgement, format); },
      [&] { return GateJson(*judgement); });
}

constexpr PositionalSpec kPositionals[] = {{.name = "RESULT",
                                            .help = "a file of results from gapless bench or another tool",
                                            .min = 0,
                                            .max = 1,
                                            .is_path = true}};
constexpr OptionSpec kOptions[] = {
    {.name = "baseline", .takes = kTakesValue, .value = "BRANCH", .help = "Judge against the history of BRANCH (main)"},
    {.name = "against",
     .takes = kTakesValue,
     .value = "REV",
     .help = "Compare this commit with the working tree in paired runs instead"},
    {.name = "build",
     .takes = kTakesValue,
     .value = "CMD",
     .help = "Run this shell command once in each commit's checkout; HEAD then runs in a checkout, too"},
    {.name = "pairs", .takes = kTakesValue, .value = "N", .help = "Give up after N pairs (60)"},
    {.name = "threshold", .takes = kTakesValue, .value = "SHARE", .help = "Report changes of at least SHARE (5%)"},
    {.name = "gate",
     .takes = kTakesValue,
     .value = "LIST",
     .help = "Judge these metrics (samples_per_second, else the median step time)",
     .is_list = true},
    {.name = "naive", .help = "Use a simple rule instead: fail below 95 % of the mean of the last ten runs"},
    {.name = "record", .help = "Record the result in the history, with its verdict"},
    {.name = "format",
     .takes = kTakesValue,
     .value = "FORM",
     .help = "Set the output's format",
     .choices = GateFormats},
    {.name = "write",
     .takes = kTakesValue,
     .value = "LIST",
     .help = "Write other formats to files in addition: junit=gate.xml,sarif=gate.sarif",
     .is_list = true},
    {.name = "db",
     .takes = kTakesValue,
     .value = "URL",
     .help = "Use the history at URL: sqlite:FILE or postgresql://…"},
    {.name = "label",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Name the benchmark, if the history holds several"},
    {.name = "branch", .takes = kTakesValue, .value = "NAME", .help = "Set the branch of the result (git's)"},
    {.name = "commit", .takes = kTakesValue, .value = "SHA", .help = "Set the commit of the result (git's)"},
    {.name = "metric",
     .takes = kTakesValue,
     .value = "LIST",
     .help = "Add metrics to the result: NAME=NUMBER,…",
     .is_list = true},
    {.name = "column",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Read this column of a CSV file, given by name or number"},
    kWarmupOption,
    kStepsOption,
    kPatternOption,
    kWholeOption,
    kTimeoutOption,
    kStepFunctionOption,
    kPinOption,
};
constexpr const TypeInfo* kDocuments[] = {&kGateDocument};
constexpr Example kExamples[] = {
    {"gapless gate --against main -- python bench.py", "Is the working tree slower than main? Both run here, in pairs"},
    {"gapless gate result.json --format markdown", "Against the history of main, as a comment on a pull request"},
    {"gapless gate --record --baseline main -- python bench.py",
     "Judges, confirms an alarm by fresh runs, and remembers"},
};

}  // namespace

COMMAND(gate) = {
    .name = "gate",
    .help = "Fail if a command is slower than its history or another commit",
    .about =
        "Judges a result in one of two ways. With --against, the commit is checked out beside the repository,"
        " and both run in pairs on this machine until the comparison is decided; that needs no history and "
        "tolerates noise best. Otherwise the result is judged against the runs of the baseline branch since "
        "their last change of level, at a false-alarm rate that holds over a hundred runs "
        "(docs/CHANGE_POINTS.md); three fresh runs confirm an alarm if a command is given.\n\nThe exit status"
        " is 1 for a regression. Every answer includes the smallest change that it could detect.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
