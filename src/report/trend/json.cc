// SPDX-License-Identifier: Apache-2.0
// Writes `gapless trend --json`. Indices count the runs of the metric that have a value, from 0; intervals of indices
// include both ends, levels do not include their end.
#include "base/described_json.h"
#include "base/timestamp.h"
#include "report/trend/report.h"
#include "report/trend/words.h"

namespace gapless::internal {

template <>
struct Described<TrendLevel> {
  static constexpr FieldInfo kFields[] = {
      Field<&TrendLevel::begin>("begin", "count", "index of the first run"),
      Field<&TrendLevel::end>("end", "count", "index after the last run"),
      Field<&TrendLevel::value>("value", "", "level of these runs"),
  };
};

namespace documents {

// A change of level.
struct TrendStep {
  size_t index = 0, first = 0, last = 0;
  std::string_view kind{};
  double before = 0, after = 0;
  std::optional<double> relative_change{};
  std::string timestamp{}, commit_sha{};
  std::optional<std::string> commits_after{}, commits_up_to{};
  std::optional<bool> within_one_commit{};
  std::vector<std::string> also_changed{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendStep::index>("index", "count", "index of the first run after the change"),
      Field<&TrendStep::first>("first", "count", "lower end of the interval of the index"),
      Field<&TrendStep::last>("last", "count", "upper end of the interval"),
      Field<&TrendStep::kind>("kind", "", "improvement, regression or change"),
      Field<&TrendStep::before>("before", "", "level before"),
      Field<&TrendStep::after>("after", "", "level afterwards"),
      Field<&TrendStep::relative_change>("relative_change", "", "fraction of the level before"),
      Field<&TrendStep::timestamp>("timestamp", "", "when the run was made", kUnlessEmpty),
      Field<&TrendStep::commit_sha>("commit_sha", "", "commit of the run", kUnlessEmpty),
      Field<&TrendStep::commits_after>("commits_after", "", "the commits that may have brought it follow this one"),
      Field<&TrendStep::commits_up_to>("commits_up_to", "", "the last of them"),
      Field<&TrendStep::within_one_commit>("within_one_commit", "", "both levels are of one commit"),
      Field<&TrendStep::also_changed>("also_changed", "", "other metrics that changed then", kUnlessEmpty),
  };
};

// The drift within the last level, in the metric's unit per run.
struct TrendDrifts {
  bool drifts = false;
  std::string_view kind{};
  std::optional<double> share{};
  double slope = 0;
  std::optional<double> low{}, high{}, relative{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendDrifts::drifts>("drifts", "", "the last level drifts by enough to report it"),
      Field<&TrendDrifts::kind>("kind", "", "improvement, regression or change", kUnlessEmpty),
      Field<&TrendDrifts::share>("share", "", "drift over the level, as a fraction"),
      Field<&TrendDrifts::slope>("slope", "", "change a run"),
      Field<&TrendDrifts::low>("low", "", "lower end of the interval of the slope"),
      Field<&TrendDrifts::high>("high", "", "upper end of the interval"),
      Field<&TrendDrifts::relative>("relative", "", "slope as a fraction of the level"),
  };
};

// One metric over the runs.
struct TrendOfMetric {
  std::string metric{}, unit{};
  std::optional<bool> higher_is_better{};
  size_t runs = 0, other_units = 0;
  double last = 0;
  std::string since{}, until{};
  std::vector<TrendStep> changes{};
  std::vector<TrendLevel> levels{};
  std::optional<TrendDrifts> drift{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendOfMetric::metric>("metric", "", "name of the metric"),
      Field<&TrendOfMetric::unit>("unit", "", "its unit", kUnlessEmpty),
      Field<&TrendOfMetric::higher_is_better>("higher_is_better", "", "direction of the metric"),
      Field<&TrendOfMetric::runs>("runs", "count", "runs with a value"),
      Field<&TrendOfMetric::other_units>("other_units", "count", "runs left out: their unit differs", kUnlessEmpty),
      Field<&TrendOfMetric::last>("last", "", "value of the last run"),
      Field<&TrendOfMetric::since>("since", "", "time of the first run", kUnlessEmpty),
      Field<&TrendOfMetric::until>("until", "", "time of the last run", kUnlessEmpty),
      Field<&TrendOfMetric::changes>("changes", "", "where the level changed"),
      Field<&TrendOfMetric::levels>("levels", "", "the levels between changes"),
      Field<&TrendOfMetric::drift>("drift", "", "slow change within the last level"),
  };
};

// The whole document. Counts of runs are absent for a file.
struct TrendResult {
  std::string history{}, branch{}, benchmark{};
  std::optional<size_t> runs{}, other_benchmarks{}, other_machines{};
  std::vector<TrendOfMetric> metrics{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendResult::history>("history", "", "file or database"),
      Field<&TrendResult::branch>("branch", "", "branch that was looked at", kUnlessEmpty),
      Field<&TrendResult::benchmark>("benchmark", "", "label of the benchmark", kUnlessEmpty),
      Field<&TrendResult::runs>("runs", "count", "runs that were looked at"),
      Field<&TrendResult::other_benchmarks>("other_benchmarks", "count", "runs left out: of other benchmarks"),
      Field<&TrendResult::other_machines>("other_machines", "count", "runs left out: on other machines"),
      Field<&TrendResult::metrics>("metrics", "", "each metric over the runs"),
  };
};

}  // namespace documents

namespace {

// Commits are left out where the history does not have them.
documents::TrendStep StepOf(const Trend& trend, size_t number) {
  const ChangePoint& change = trend.changes[number];
  const TrendPoint& point = trend.points[change.index];
  documents::TrendStep step{.index = change.index,
                            .first = change.first,
                            .last = change.last,
                            .kind = WordOf(KindOf(trend, change)),
                            .before = change.before,
                            .after = change.after,
                            .relative_change = change.relative_change,
                            .timestamp = point.unix_ns ? FormatTimestamp(*point.unix_ns) : "",
                            .commit_sha = point.commit};
  if (const auto commits = CommitsOf(trend, change)) {
    step.commits_after = commits->after;
    step.commits_up_to = commits->up_to;
  }
  // Without a commit nobody can say if both levels are of the same.
  if (!point.commit.empty()) step.within_one_commit = IsWithinOneCommit(trend, change);
  if (number < trend.also_changed.size()) step.also_changed = trend.also_changed[number];
  return step;
}

// The slope is given also if it is not worth reporting; `drifts` says so.
documents::TrendDrifts DriftOf(const Trend& trend) {
  const auto worth = DriftWorthTelling(trend);
  return {.drifts = worth.has_value(),
          .kind = worth ? WordOf(KindOf(trend, *trend.drift)) : "",
          .share = worth,
          .slope = trend.drift->slope,
          .low = trend.drift->low,
          .high = trend.drift->high,
          .relative = trend.drift->relative};
}

// Describes a metric, which has at least one run.
documents::TrendOfMetric MetricOf(const Trend& trend) {
  const TrendPoint &first = trend.points.front(), &last = trend.points.back();
  documents::TrendOfMetric metric{.metric = trend.metric,
                                  .unit = trend.unit,
                                  .higher_is_better = trend.higher_is_better,
                                  .runs = trend.points.size(),
                                  .other_units = trend.other_units,
                                  .last = last.value,
                                  .since = first.unix_ns ? FormatTimestamp(*first.unix_ns) : "",
                                  .until = last.unix_ns ? FormatTimestamp(*last.unix_ns) : "",
                                  .levels = trend.levels};
  for (size_t i = 0; i < trend.changes.size(); ++i) metric.changes.push_back(StepOf(trend, i));
  if (trend.drift) metric.drift = DriftOf(trend);
  return metric;
}

documents::TrendResult ResultOf(const TrendReport& report) {
  documents::TrendResult document{.history = report.place, .branch = report.branch, .benchmark = report.benchmark};
  // A file has no branches and machines, so no counts of runs that were left out.
  if (report.is_history) {
    document.runs = report.runs;
    document.other_benchmarks = report.other_benchmarks;
    document.other_machines = report.other_machines;
  }
  for (const Trend& trend : report.trends) document.metrics.push_back(MetricOf(trend));
  return document;
}

}  // namespace

constinit const TypeInfo kTrendDocument = describe::MakeType<documents::TrendResult>();

std::string TrendJson(const TrendReport& report) { return DocumentOf("trend", ResultOf(report), report.notes); }

void WriteTrend(JsonWriter& json, const TrendReport& report) {
  const documents::TrendResult document = ResultOf(report);
  WriteDocument(json, "trend", kTrendDocument, &document, report.notes);
}

}  // namespace gapless::internal
