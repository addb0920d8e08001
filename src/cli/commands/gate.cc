// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/bench/report.h"
#include "cli/commands/compare/comparison.h"
#include "cli/commands/gate/judgement.h"
#include "cli/commands/history/actions.h"
#include "cli/output.h"
#include "store/result_reader.h"
#include "trial/checkout.h"

namespace gapless::internal {
namespace {

constexpr double kDefaultEffect = 0.05;
constexpr int64_t kDefaultPairs = 60, kMostPairs = 10'000, kMostHistory = 2000;
constexpr int kFreshRuns = 3;
constexpr double kLevel = 0.05;
constexpr size_t kShortSha = 10;

// The command measured once, as a record.
Result<BenchmarkRecord> MeasuredRecord(const RunRequest& request) {
  auto sample = RunMeasured(request);
  if (!sample) return Unexpected{sample.error()};
  const auto file = ReadResults(BenchJson({std::move(*sample)}, request.command), "bench");
  if (!file) return Unexpected{file.error()};
  return RecordFrom(*file);
}

Result<BenchmarkRecord> CurrentRecord(const Arguments& arguments) {
  const auto& files = arguments.positionals();
  if (!files.empty() || arguments.Has("metric")) return RecordFromArguments(arguments, files.empty() ? "" : files[0]);
  if (arguments.command().empty())
    return Fail(ErrorCode::kUsage, "there is nothing to judge", "",
                "name a file of results, give --metric NAME=NUMBER, or a command after --");
  const auto request = RequestFrom(arguments, arguments.command());
  if (!request) return Unexpected{request.error()};
  auto record = MeasuredRecord(*request);
  if (record && arguments.Has("label")) record->benchmark = arguments.Value("label");
  return record;
}

bool IsHigherBetter(const MetricRecord& metric) {
  return metric.higher_is_better.value_or(metric.name.ends_with("_per_second") || metric.name.ends_with("utilization"));
}

// Those that were asked for, else the one that says most.
Result<std::vector<MetricRecord>> MetricsToJudge(const Arguments& arguments, const BenchmarkRecord& current) {
  std::vector<MetricRecord> metrics;
  for (const std::string& name : arguments.List("gate")) {
    const MetricRecord* found = current.Find(name);
    if (found == nullptr) return Fail(ErrorCode::kInput, "the result has no such metric", name);
    metrics.push_back(*found);
  }
  for (const std::string_view name : {"samples_per_second", "step_time_p50_ms"})
    if (const MetricRecord* found = current.Find(name); metrics.empty() && found != nullptr) metrics.push_back(*found);
  if (metrics.empty() && !current.metrics.empty()) metrics.push_back(current.metrics[0]);
  if (metrics.empty()) return Fail(ErrorCode::kInput, "the result has no metric");
  return metrics;
}

// Other hardware has another level: it is no baseline.
bool SameMachine(const BenchmarkRecord& a, const BenchmarkRecord& b) {
  const bool gpu = a.gpu_type.empty() || b.gpu_type.empty() || a.gpu_type == b.gpu_type;
  return gpu && (!a.num_gpus || !b.num_gpus || *a.num_gpus == *b.num_gpus);
}

GateMark MarkOf(const BenchmarkRecord& record, const std::string& metric) {
  GateMark mark = GateMark::kUnmarked;
  for (const VerdictRecord& verdict : record.verdicts) {
    if (verdict.metric != metric && !verdict.metric.empty()) continue;
    if (verdict.kind == "pending") mark = GateMark::kPending;
    if (verdict.kind == "confirmed") mark = GateMark::kConfirmed;
    if (verdict.kind == "cleared") mark = GateMark::kCleared;
    if (verdict.kind == "accepted") mark = GateMark::kAccepted;
  }
  return mark;
}

struct Past {
  std::vector<BenchmarkRecord> records;  // oldest first
  size_t other_machines = 0;
  std::string branch;
};

Result<Past> ReadPast(const Arguments& arguments, History& history, const BenchmarkRecord& current) {
  Past past;
  past.branch = arguments.Value("baseline", "main");
  HistoryFilter filter{.branch = past.branch, .limit = kMostHistory, .with_samples = false};
  if (!current.benchmark.empty()) filter.benchmark = current.benchmark;
  auto records = history.List(filter);
  if (!records) return Unexpected{records.error()};
  for (BenchmarkRecord& record : *records) {
    if (SameMachine(record, current))
      past.records.push_back(std::move(record));
    else
      ++past.other_machines;
  }
  return past;
}

// The runs of one metric; a last one that is the current result itself is left out.
std::vector<std::pair<GateRun, std::string>> RunsOf(const Past& past, const BenchmarkRecord& current,
                                                    const MetricRecord& metric) {
  std::vector<std::pair<GateRun, std::string>> runs;
  for (const BenchmarkRecord& record : past.records)
    if (const MetricRecord* found = record.Find(metric.name); found != nullptr)
      runs.push_back({{.value = found->value, .mark = MarkOf(record, metric.name)}, record.commit_sha});
  const bool itself = !runs.empty() && !current.commit_sha.empty() && runs.back().second == current.commit_sha &&
                      runs.back().first.value == metric.value;
  if (itself) runs.pop_back();
  return runs;
}

Result<GateVerdict> Confirmed(const Arguments& arguments, const GateVerdict& verdict, const std::string& metric) {
  if (!verdict.IsAlarm() || arguments.command().empty() || !arguments.positionals().empty()) return verdict;
  const auto request = RequestFrom(arguments, arguments.command());
  if (!request) return Unexpected{request.error()};
  std::vector<double> fresh;
  for (int i = 0; i < kFreshRuns; ++i) {
    const auto record = MeasuredRecord(*request);
    if (!record) return Unexpected{record.error()};
    if (const MetricRecord* found = record->Find(metric); found != nullptr) fresh.push_back(found->value);
  }
  if (fresh.empty()) return verdict;
  return GateConfirm(verdict, fresh);
}

Result<Judgement> AgainstHistory(const Arguments& arguments, BenchmarkRecord& current, History& history) {
  const auto effect = ShareFrom(arguments, "threshold", kDefaultEffect);
  if (!effect) return Unexpected{effect.error()};
  const auto past = ReadPast(arguments, history, current);
  if (!past) return Unexpected{past.error()};
  const auto metrics = MetricsToJudge(arguments, current);
  if (!metrics) return Unexpected{metrics.error()};
  Judgement judgement;
  judgement.threshold = *effect;
  judgement.against =
      StrCat("the ", past->records.size(), " runs of ", Printable(past->branch), " in ", Printable(history.place()));
  if (past->other_machines > 0)
    judgement.notes.push_back(StrCat(past->other_machines, " runs on other GPUs are left out"));
  const bool naive = arguments.Has("naive");
  GateOptions options{.effect = *effect};
  if (!naive) judgement.false_alarm_rate = options.false_alarm_rate;
  if (!naive) judgement.false_alarm_over = StrCat(options.horizon_runs, " runs without a change");
  options.false_alarm_rate /= static_cast<double>(metrics->size());  // of all together (Bonferroni)
  for (const MetricRecord& metric : *metrics) {
    options.higher_is_better = IsHigherBetter(metric);
    const auto runs = RunsOf(*past, current, metric);
    std::vector<GateRun> values;
    for (const auto& [run, sha] : runs) values.push_back(run);
    auto verdict =
        naive ? NaiveGate(values, metric.value, options) : JudgeAgainstHistory(values, metric.value, options);
    if (!verdict) return Unexpected{verdict.error()};
    const bool alarm = verdict->IsAlarm();
    if (!naive) verdict = Confirmed(arguments, *verdict, metric.name);
    if (!verdict) return Unexpected{verdict.error()};
    if (alarm) {
      const std::string kind = verdict->confirmed ? "confirmed" : verdict->IsAlarm() ? "pending" : "cleared";
      current.verdicts.push_back({.recorded_unix_ns = 0, .metric = metric.name, .kind = kind, .detail = "{}"});
    }
    judgement.metrics.push_back({.metric = metric.name,
                                 .unit = metric.unit,
                                 .higher_is_better = options.higher_is_better,
                                 .kind = verdict->kind,
                                 .confirmed = verdict->confirmed,
                                 .reason = std::string(verdict->reason),
                                 .current = metric.value,
                                 .baseline = verdict->level,
                                 .change = verdict->change,
                                 .change_low = {},
                                 .change_high = {},
                                 .noise = verdict->noise,
                                 .mde = verdict->mde,
                                 .runs = verdict->baseline_runs});
    if (verdict->kind == GateKind::kRegression && judgement.culprit.empty())
      judgement.culprit = verdict->window_runs > 1 && runs.size() + 1 >= verdict->window_runs
                              ? runs[runs.size() + 1 - verdict->window_runs].second
                              : current.commit_sha;
  }
  return judgement;
}

// Pairs of processes, until it is clear on which side of half the effect the change lies: of "as before" and "slower by
// the effect" that is the likelier one.
Result<Judgement> AgainstCommit(const Arguments& arguments, const Session& session) {
  const auto effect = ShareFrom(arguments, "threshold", kDefaultEffect);
  if (!effect) return Unexpected{effect.error()};
  const auto pairs = arguments.Number("pairs", 6, kDefaultPairs);
  if (!pairs) return Unexpected{pairs.error()};
  if (arguments.command().empty()) return Fail(ErrorCode::kUsage, "--against needs a command after --");
  const auto other = FindCommit(".", std::string(arguments.Value("against")));
  if (!other) return Unexpected{other.error()};
  auto checkouts = Checkouts::Make(".", std::string(arguments.Value("build")));
  if (!checkouts) return Unexpected{checkouts.error()};
  auto before = RequestFrom(arguments, arguments.command());
  if (!before) return Unexpected{before.error()};
  RunRequest now = *before;
  const auto at = [&](const std::string& sha, RunRequest& request) -> Result<void> {
    const auto place = checkouts->At(sha);
    if (!place) return Unexpected{place.error()};
    if (place->build_status != 0)
      return Fail(ErrorCode::kCommand, StrCat(sha.substr(0, kShortSha), " cannot be built"), "",
                  Printable(place->build_tail));
    request.working_folder = place->folder;
    return {};
  };
  GAPLESS_TRY(at(other->sha, *before));
  if (arguments.Has("build")) {  // what is built in the user's own folder would be the user's files
    const auto head = FindCommit(".", "HEAD");
    if (!head) return Unexpected{head.error()};
    GAPLESS_TRY(at(head->sha, now));
  }
  Comparison comparison({.alpha = kLevel, .margin = 0}, false);
  SymmetryEvidence evidence(std::log1p(*effect / 2));
  std::mt19937_64 coin{std::random_device()()};
  const double enough = -std::log(kLevel);
  while (static_cast<int64_t>(comparison.pairs()) < std::min(*pairs, kMostPairs) && evidence.highest_log() < enough) {
    const bool now_first = (coin() >> 63) != 0;
    auto first = RunMeasured(now_first ? now : *before);
    if (!first) return Unexpected{first.error()};
    auto second = RunMeasured(now_first ? *before : now);
    if (!second) return Unexpected{second.error()};
    comparison.Add(std::move(now_first ? *second : *first), std::move(now_first ? *first : *second));
    evidence.Add(comparison.log_ratios().back());
    if (session.stderr_is_tty)
      std::fputs(StrCat("pair ", comparison.pairs(), ": ", comparison.InShort(), "\n").c_str(), stderr);
  }
  const bool decided = evidence.highest_log() >= enough;
  const RatioInterval ratio = comparison.TimeRatio();
  const auto [a, b] = comparison.Typical();
  Judgement judgement;
  judgement.threshold = *effect;
  judgement.against =
      StrCat(other->sha.substr(0, kShortSha), " ", Printable(other->subject), ", in ", comparison.pairs(), " pairs");
  judgement.false_alarm_rate = kLevel;
  judgement.false_alarm_over = "this comparison";
  const bool pattern = arguments.Has("pattern");
  judgement.metrics.push_back(
      {.metric = pattern ? "value" : "time",
       .unit = pattern ? "" : "ms",
       .higher_is_better = false,
       .kind = !decided                        ? GateKind::kCannotTell
               : evidence.side() > 0           ? GateKind::kRegression
               : ratio.high && *ratio.high < 1 ? GateKind::kImprovement
                                               : GateKind::kFine,
       .confirmed = false,
       .reason = decided ? "" : StrCat("after ", comparison.pairs(), " pairs; --pairs allows more"),
       .current = b,
       .baseline = a,
       .change = ratio.expected - 1,
       .change_low = ratio.low ? std::optional(*ratio.low - 1) : std::nullopt,
       .change_high = ratio.high ? std::optional(*ratio.high - 1) : std::nullopt,
       .noise = {},
       .mde = comparison.DetectableShare(),
       .runs = comparison.pairs()});
  return judgement;
}

Result<Judgement> Judge(const Arguments& arguments, const Session& session) {
  if (arguments.Has("against")) return AgainstCommit(arguments, session);
  auto current = CurrentRecord(arguments);
  if (!current) return Unexpected{current.error()};
  auto history = History::Open(arguments.Value("db"));
  if (!history) return Unexpected{history.error()};
  auto judgement = AgainstHistory(arguments, *current, *history);
  if (!judgement || !arguments.Has("record")) return judgement;
  if (current->uid.empty()) current->uid = NewUid();
  const auto recorded = history->Record(*current);
  if (!recorded) return Unexpected{recorded.error()};
  judgement->notes.push_back(StrCat("recorded as run ", recorded->id));
  return judgement;
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  const auto judgement = Judge(arguments, session);
  if (!judgement) return Unexpected{judgement.error()};
  const std::string_view format = arguments.Value("format", "text");
  auto printed = PrintTextOrJson(
      arguments, [&] { return GateAs(*judgement, format); }, [&] { return GateJson(*judgement); });
  if (!printed) return printed;
  return judgement->IsRegression() ? 1 : 0;
}

constexpr PositionalSpec kPositionals[] = {{.name = "RESULT",
                                            .help = "a file of results, of gapless bench or another tool",
                                            .min = 0,
                                            .max = 1,
                                            .is_path = true}};
constexpr OptionSpec kOptions[] = {
    {.name = "baseline", .takes = kTakesValue, .value = "BRANCH", .help = "Whose history is the baseline (main)"},
    {.name = "against",
     .takes = kTakesValue,
     .value = "REV",
     .help = "Run this commit and the working tree in pairs instead"},
    {.name = "build",
     .takes = kTakesValue,
     .value = "CMD",
     .help = "For a shell, once in each commit's checkout; then HEAD is run"},
    {.name = "pairs", .takes = kTakesValue, .value = "N", .help = "Give up after N pairs (60)"},
    {.name = "threshold", .takes = kTakesValue, .value = "SHARE", .help = "The size of change that matters (5%)"},
    {.name = "gate",
     .takes = kTakesValue,
     .value = "LIST",
     .help = "Metrics to judge (samples_per_second, else the step's median)",
     .is_list = true},
    {.name = "naive", .help = "Only compare with 95 % of the mean of the last ten runs"},
    {.name = "record", .help = "Keep the result in the history, with what was said of it"},
    {.name = "format", .takes = kTakesValue, .value = "FORM", .help = "Form of the output", .choices = GateFormats},
    {.name = "db", .takes = kTakesValue, .value = "URL", .help = "Where the history is: sqlite:FILE or postgresql://…"},
    {.name = "label",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Name of what was measured, when a history holds several"},
    {.name = "branch", .takes = kTakesValue, .value = "NAME", .help = "Branch of the result (otherwise git's)"},
    {.name = "commit", .takes = kTakesValue, .value = "SHA", .help = "Commit of the result (otherwise git's)"},
    {.name = "metric",
     .takes = kTakesValue,
     .value = "LIST",
     .help = "Metrics of the result, too: NAME=NUMBER,…",
     .is_list = true},
    {.name = "column", .takes = kTakesValue, .value = "NAME", .help = "Column of a CSV file, by its name or number"},
    kWarmupOption,
    kStepsOption,
    kPatternOption,
    kWholeOption,
    kTimeoutOption,
};
constexpr Example kExamples[] = {
    {"gapless gate --against main -- python bench.py", "Is the working tree slower than main? Both run here, in pairs"},
    {"gapless gate result.json --format markdown", "Against the history of main, as a comment on a pull request"},
    {"gapless gate --record --baseline main -- python bench.py",
     "Judges, confirms an alarm by fresh runs, and remembers"},
};

}  // namespace

COMMAND(gate) = {
    .name = "gate",
    .help = "Fail when a command got slower than its history, or another commit",
    .about =
        "Two ways. With --against the commit is checked out beside the repository, and both are run in pairs on this "
        "machine until it is clear; that needs no history and stands noise best. Otherwise the result is judged "
        "against "
        "the runs of the baseline branch since their last change of level, at a false-alarm rate that holds over a "
        "hundred runs (docs/CHANGE_POINTS.md); an alarm is confirmed by three fresh runs when a command is "
        "given.\n\nThe "
        "exit status is 1 for a regression. What it could have seen is said with every answer.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .takes_command = true,
    .run = Execute};

}  // namespace gapless::internal
