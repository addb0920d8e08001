// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "cli/commands/trend/report.h"
#include "cli/commands/trend/words.h"
#include "store/timestamp.h"

namespace gapless::internal {
namespace {

void WriteChange(JsonWriter& json, const Trend& trend, size_t number) {
  const ChangePoint& change = trend.changes[number];
  json.BeginObject();
  json.Field("index", change.index);
  json.Field("first", change.first);
  json.Field("last", change.last);
  json.Field("kind", WordOf(KindOf(trend, change)));
  json.Field("before", change.before);
  json.Field("after", change.after);
  json.Field("relative_change", change.relative_change);
  const TrendPoint& point = trend.points[change.index];
  if (point.unix_ns) json.Field("timestamp", FormatTimestamp(*point.unix_ns));
  json.FieldUnlessEmpty("commit_sha", point.commit);
  if (const auto commits = CommitsOf(trend, change)) {
    json.Field("commits_after", commits->after);
    json.Field("commits_up_to", commits->up_to);
  }
  if (!point.commit.empty()) json.Field("within_one_commit", IsWithinOneCommit(trend, change));
  if (number < trend.also_changed.size() && !trend.also_changed[number].empty()) {
    json.Key("also_changed");
    json.BeginArray();
    for (const std::string& other : trend.also_changed[number]) json.String(other);
    json.EndArray();
  }
  json.EndObject();
}

void WriteLevels(JsonWriter& json, const Trend& trend) {
  json.Key("levels");
  json.BeginArray();
  for (const TrendLevel& level : trend.levels) {
    json.BeginObject();
    json.Field("begin", level.begin);
    json.Field("end", level.end);
    json.Field("value", level.value);
    json.EndObject();
  }
  json.EndArray();
}

void WriteDrift(JsonWriter& json, const Trend& trend) {
  if (!trend.drift) return;
  const auto worth = DriftWorthTelling(trend);
  json.Key("drift");
  json.BeginObject();
  json.Field("drifts", worth.has_value());
  if (worth) json.Field("kind", WordOf(KindOf(trend, *trend.drift)));
  json.Field("share", worth);
  json.Field("slope", trend.drift->slope);
  json.Field("low", trend.drift->low);
  json.Field("high", trend.drift->high);
  json.Field("relative", trend.drift->relative);
  json.EndObject();
}

void WriteTrend(JsonWriter& json, const Trend& trend) {
  json.BeginObject();
  json.Field("metric", trend.metric);
  json.FieldUnlessEmpty("unit", trend.unit);
  json.Field("higher_is_better", trend.higher_is_better);
  json.Field("runs", trend.points.size());
  if (trend.other_units > 0) json.Field("other_units", trend.other_units);
  json.Field("last", trend.points.back().value);
  if (trend.points.front().unix_ns) json.Field("since", FormatTimestamp(*trend.points.front().unix_ns));
  if (trend.points.back().unix_ns) json.Field("until", FormatTimestamp(*trend.points.back().unix_ns));
  json.Key("changes");
  json.BeginArray();
  for (size_t i = 0; i < trend.changes.size(); ++i) WriteChange(json, trend, i);
  json.EndArray();
  WriteLevels(json, trend);
  WriteDrift(json, trend);
  json.EndObject();
}

}  // namespace

std::string TrendJson(const TrendReport& report) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("history", report.place);
  json.FieldUnlessEmpty("branch", report.branch);
  json.FieldUnlessEmpty("benchmark", report.benchmark);
  if (report.is_history) {
    json.Field("runs", report.runs);
    json.Field("other_benchmarks", report.other_benchmarks);
    json.Field("other_machines", report.other_machines);
  }
  json.Key("metrics");
  json.BeginArray();
  for (const Trend& trend : report.trends) WriteTrend(json, trend);
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
