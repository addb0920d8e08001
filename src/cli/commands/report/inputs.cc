// SPDX-License-Identifier: Apache-2.0
// Reads the inputs of `gapless report` and detects the kind of each: a run folder, a folder of optimize, a recording,
// JSON of bench or tune, or a history.
//
// Only the documented JSON of the commands is read, so results of older versions can be reported, too; a member that
// they lack is a gap in a table. Any other path is taken for a recording, and the reader of recordings gives the error.
#include "cli/commands/report/inputs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/json_value.h"
#include "base/strings.h"
#include "cli/history_actions.h"
#include "collect/files.h"
#include "ingest/input_paths.h"
#include "ingest/redaction.h"
#include "proof/trend_runs.h"
#include "report/lab/parts.h"
#include "report/trend/report.h"
#include "report/trend/words.h"
#include "store/history.h"

namespace gapless::internal {
namespace {

// Largest result that is read.
constexpr size_t kMaxResultBytes = size_t{1} << 28;

// Returns a ratio with its interval; absent if it was not measured.
std::optional<LabRatio> RatioFrom(const JsonValue& value) {
  const auto expected = value.Get("expected").Number();
  if (!expected) return std::nullopt;
  return LabRatio{.low = value.Get("low").Number(), .high = value.Get("high").Number(), .expected = *expected};
}

// Returns a list of losses, with NaN for a step without one.
std::vector<double> LossesFrom(const JsonValue& list) {
  std::vector<double> losses;
  for (const JsonValue& loss : list.items())
    losses.push_back(loss.Number().value_or(std::numeric_limits<double>::quiet_NaN()));
  return losses;
}

// Reads a row of any of the results. Memory of the host stands in where none of the GPU was measured, as on a machine
// without one.
LabStage StageFrom(const JsonValue& row, std::string name) {
  LabStage stage{.name = std::move(name),
                 .step_ms = row.Get("step_time_ms").Number(),
                 .samples_per_second = row.Get("samples_per_second").Number(),
                 .memory_bytes = row.Get("memory_bytes").Number(),
                 .gpu_utilization = row.Get("gpu_utilization").Number(),
                 .loss = row.Get("loss").Number(),
                 .metric = row.Get("metric").Number()};
  if (stage.memory_bytes) stage.memory_source = "allocator";
  if (!stage.memory_bytes) {
    stage.memory_bytes = row.Get("host_memory_bytes").Number();
    if (stage.memory_bytes) stage.memory_source = "host";
  }
  stage.measured = RatioFrom(row.Get("speedup"));
  stage.losses = LossesFrom(row.Get("losses"));
  return stage;
}

// Returns the prediction of a fix, which stands with its decision, whether the fix was applied or stayed unproved.
std::optional<LabRatio> PredictionOf(const JsonValue& root, const std::string& fix) {
  for (const char* list : {"applied", "refused"})
    for (const JsonValue& decision : root.Get(list).items())
      if (decision.TextOf("fix") == fix) return RatioFrom(decision.Get("predicted"));
  return std::nullopt;
}

// Returns false for fixes that were not looked at on this machine: a list of them would say nothing about the training.
bool IsWorthSaying(const std::string& outcome) {
  for (const char* quiet : {"does_not_apply", "nothing_to_gain", "not_allowed", "no_time"})
    if (outcome == quiet) return false;
  return true;
}

// Adds a search: its stages with predictions, and the reasons against the other fixes.
void AddOptimization(const JsonValue& root, const std::string& name, LabView& view) {
  LabOptimization of{.name = name, .command = root.TextOf("command")};
  of.about = root.TextOf("about");
  of.metric_name = root.TextOf("metric_name");
  of.conclusion = root.TextOf("conclusion");
  of.training = root.Get("training").TextOf("reason");
  of.proved = root.Get("proved").Bool().value_or(false);
  of.speedup = RatioFrom(root.Get("speedup"));
  for (const JsonValue& row : root.Get("table").items()) {
    const std::string fix = row.TextOf("optimization");
    LabStage stage = StageFrom(row, fix);
    stage.predicted = PredictionOf(root, fix);
    of.stages.push_back(std::move(stage));
  }
  for (const JsonValue& decision : root.Get("refused").items())
    if (IsWorthSaying(decision.TextOf("outcome"))) {
      const auto measured = RatioFrom(decision.Get("measured")), predicted = RatioFrom(decision.Get("predicted"));
      std::string text = decision.TextOf("reason");
      if (measured) text += StrCat("; measured ", lab::RatioText(*measured));
      if (predicted) text += StrCat(", predicted ", lab::RatioText(*predicted));
      of.refused.push_back({decision.TextOf("fix"), text});
    }
  for (const JsonValue& untried : root.Get("untried").items()) {
    const auto promise = untried.Get("expected_speedup").Number(), seconds = untried.Get("trial_s").Number();
    of.untried.push_back(
        {untried.TextOf("fix"), StrCat("expected ", FormatNumber(promise.value_or(1), 2), "×, its trial takes about ",
                                       FormatNumber(seconds.value_or(0), 0), " s")});
  }
  for (const JsonValue& warning : root.Get("warnings").items())
    if (warning.Text() != nullptr) of.warnings.push_back(*warning.Text());
  of.took_s = root.Get("took_s").Number();
  of.budget_s = root.Get("budget_s").Number();
  view.optimizations.push_back(std::move(of));
}

// Adds a stage; its loss is the last finite one.
void AddBench(const JsonValue& root, const std::string& name, LabView& view) {
  const JsonValue& metrics = root.Get("metrics");
  LabStage stage = StageFrom(metrics, name);
  if (const auto gigabytes = metrics.Get("memory_usage_gb").Number()) stage.memory_bytes = *gigabytes * 1e9;
  stage.memory_source = metrics.TextOf("memory_usage_source");
  stage.gpu_utilization_source = metrics.TextOf("gpu_utilization_source");
  stage.losses = LossesFrom(root.Get("losses"));
  for (const JsonValue& seen : root.Get("noise").items())
    if (seen.Text() != nullptr) stage.noise.push_back(*seen.Text());
  for (const double loss : stage.losses)
    if (std::isfinite(loss)) stage.loss = loss;
  view.stages.push_back(std::move(stage));
}

// Adds a scaling curve, if it has points.
void AddScaling(const JsonValue& root, const std::string& name, LabView& view) {
  LabScaling scaling{.name = name, .kind = root.TextOf("scaling")};
  for (const JsonValue& point : root.Get("points").items())
    if (const auto ranks = point.Get("ranks").Int())
      scaling.points.push_back({.ranks = *ranks,
                                .speedup = point.Get("speedup").Number().value_or(0),
                                .efficiency = point.Get("efficiency").Number().value_or(0),
                                .step_ms = point.Get("step_time_ms").Number(),
                                .samples_per_second = point.Get("samples_per_second").Number()});
  if (!scaling.points.empty()) view.scalings.push_back(std::move(scaling));
}

// Adds the settings that were measured, named by what they set.
void AddTuning(const JsonValue& root, const std::string& name, LabView& view) {
  LabTuning tuning{.name = name};
  for (const JsonValue& row : root.Get("settings").items()) {
    std::vector<std::string> fixes;
    for (const JsonValue& fix : row.Get("fixes").items())
      if (fix.Text() != nullptr) fixes.push_back(*fix.Text());
    tuning.settings.push_back(StageFrom(row, fixes.empty() ? "as it is" : Join(fixes, ", ")));
  }
  tuning.best = static_cast<size_t>(std::max<int64_t>(0, root.Get("best").Int().value_or(0)));
  view.tunings.push_back(std::move(tuning));
}

bool IsHistory(const std::string& path) {
  return path.starts_with("sqlite:") || path.starts_with("postgresql:") || path.starts_with("postgres:") ||
         path.ends_with(".db");
}

// Returns true if the file begins as the JSON of a verb does.
bool IsResult(const std::string& path) {
  return path.ends_with(".json") && ContentOf(path, 256).find("\"gapless\"") != std::string::npos;
}

// Returns the name by which the text refers to an input: the last part of its path, without ".json".
std::string ShownNameOf(const std::string& path) {
  std::filesystem::path shown(path);
  if (!shown.has_filename()) shown = shown.parent_path();
  return shown.extension() == ".json" ? shown.stem().string() : shown.filename().string();
}

// Adds a folder of `optimize`. Its own recording becomes the baseline only if no recording was given before.
Result<void> AddOptimizeFolder(const std::string& folder, const std::string& name, const ReadArguments& arguments,
                               const Session& session, LabView& view) {
  const std::string result = StrCat(folder, "/result.json"), profile = StrCat(folder, "/profile");
  std::error_code error;
  if (!std::filesystem::is_regular_file(result, error))
    return Fail(ErrorCode::kInput, StrCat("cannot report ", folder, ": it holds no result.json"), folder,
                "the optimisation is not finished, or an older version made it: start gapless optimize again");
  if (view.recordings.empty() && IsRunFolder(profile))
    GAPLESS_TRY(AddRecording(profile, StrCat(name, "/profile"), arguments, session, view));
  return AddResult(result, name, view);
}

}  // namespace

// Recognises the command by a member that only its document has.
Result<void> AddResult(const std::string& path, const std::string& name, LabView& view) {
  const auto root = JsonValue::Parse(ContentOf(path, kMaxResultBytes));
  if (!root) return Fail(ErrorCode::kInput, StrCat("cannot read ", path, ": ", root.error().message), path);
  if (root->Get("applied").is_array()) {
    AddOptimization(*root, name, view);
  } else if (root->Get("points").is_array()) {
    AddScaling(*root, name, view);
  } else if (root->Get("settings").is_array()) {
    AddTuning(*root, name, view);
  } else if (root->Get("metrics").is_object()) {
    AddBench(*root, name, view);
  } else {
    return Fail(ErrorCode::kInput, StrCat("cannot report ", path, ": it is no result of optimize, bench or tune"), path,
                "give the recording itself, or the JSON of one of these verbs");
  }
  return {};
}

// Adds the trends of the newest benchmark.
Result<void> AddHistory(const std::string& url, const Session& session, LabView& view) {
  GAPLESS_ASSIGN(auto history, History::OpenToRead(url));
  HistoryFilter filter;
  filter.with_samples = false;
  GAPLESS_ASSIGN(const auto records, history.List(filter));
  if (session.cancel != nullptr && session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  const TrendRuns runs = RunsLikeTheNewest(records);
  TrendReport report{.place = history.place(), .runs = runs.records.size()};
  if (!runs.records.empty())
    report.benchmark = runs.records.back().benchmark, report.branch = runs.records.back().branch;
  for (const std::string& metric : UsualMetrics(runs.records)) {
    Trend trend = TrendOf(runs.records, metric);
    if (!trend.points.empty()) report.trends.push_back(std::move(trend));
  }
  LabHistory shown{.heading =
                       report.trends.empty() ? StrCat(report.place, " holds no benchmark") : TrendHeading(report)};
  if (!report.trends.empty()) shown.svg = TrendSvg(report);
  for (const Trend& trend : report.trends) {
    for (const ChangePoint& change : trend.changes)
      shown.sentences.push_back(
          StrCat(trend.metric, " changed by ", SizeOf(change), " at ", WhenOf(trend, change.index), ", from ",
                 FromTo(change.before, change.after, trend.unit), JudgementOf(KindOf(trend, change)), "."));
    if (trend.changes.empty())
      shown.sentences.push_back(StrCat(
          trend.metric, " has one level, ",
          AmountOf(trend.levels.empty() ? trend.points.back().value : trend.levels.back().value, trend.unit), "."));
  }
  view.histories.push_back(std::move(shown));
  return {};
}

namespace {

// The texts that tell where something was measured. Findings come from recordings, and are redacted with them.
std::vector<std::string*> TextsOf(LabView& view) {
  std::vector<std::string*> texts;
  const auto add_stages = [&texts](std::vector<LabStage>& stages) {
    for (LabStage& stage : stages) {
      texts.push_back(&stage.name);
      for (std::string& sentence : stage.noise) texts.push_back(&sentence);
    }
  };
  for (LabRecording& recording : view.recordings) texts.push_back(&recording.name);
  for (LabOptimization& of : view.optimizations) {
    texts.insert(texts.end(), {&of.name, &of.command, &of.about, &of.conclusion, &of.training});
    for (auto* reasons : {&of.refused, &of.untried})
      for (LabReason& reason : *reasons) texts.push_back(&reason.text);
    for (std::string& warning : of.warnings) texts.push_back(&warning);
    add_stages(of.stages);
  }
  add_stages(view.stages);
  for (LabScaling& scaling : view.scalings) texts.push_back(&scaling.name);
  for (LabTuning& tuning : view.tunings) {
    texts.push_back(&tuning.name);
    add_stages(tuning.settings);
  }
  for (LabHistory& history : view.histories) {
    texts.push_back(&history.heading);
    for (std::string& sentence : history.sentences) texts.push_back(&sentence);
  }
  return texts;
}

}  // namespace

// A folder of `optimize` is recognised by its journal, which is there before the first decision.
Result<LabView> ReadLab(const ReadArguments& arguments, const Session& session) {
  LabView view;
  for (size_t i = 0; i < arguments.paths.size(); ++i) {
    const std::string& path = arguments.paths[i];
    const std::string name = arguments.redact ? StrCat("run ", i + 1) : ShownNameOf(path);
    std::error_code error;
    const bool is_optimize = std::filesystem::is_regular_file(StrCat(path, "/journal.jsonl"), error);
    const Result<void> added = IsHistory(path)  ? AddHistory(path, session, view)
                               : is_optimize    ? AddOptimizeFolder(path, name, arguments, session, view)
                               : IsResult(path) ? AddResult(path, name, view)
                                                : AddRecording(path, name, arguments, session, view);
    GAPLESS_TRY(added);
  }
  if (arguments.redact) session.redaction->Apply(TextsOf(view));
  return view;
}

}  // namespace gapless::internal
