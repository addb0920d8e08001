// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trend/report.h"

#include <algorithm>
#include <cmath>

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/output.h"
#include "store/timestamp.h"

namespace gapless::internal {
namespace {

constexpr size_t kSparkWidth = 60, kShortSha = 10, kDayOnly = 10;

std::string Number(double value, const std::string& unit) {
  const double size = std::abs(value);
  return StrCat(FormatNumber(value, size >= 1000 ? 0 : size >= 10 ? 2 : 4), unit.empty() ? "" : " ", unit);
}

std::string Signed(double share) { return StrCat(share >= 0 ? "+" : "-", FormatPercent(std::abs(share))); }

std::vector<double> ValuesOf(const Trend& trend) {
  std::vector<double> values;
  for (const TrendPoint& point : trend.points) values.push_back(point.value);
  return values;
}

// The series in as many cells as fit, each the median of its runs.
std::string Spark(const std::vector<double>& values, bool utf8) {
  static constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view kPlain[] = {"_", "_", ".", ".", "-", "-", "^", "^"};
  const size_t cells = std::min(values.size(), kSparkWidth);
  std::vector<double> heights;
  for (size_t i = 0; i < cells; ++i) {
    std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / cells),
                             values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / cells));
    std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2), part.end());
    heights.push_back(part[part.size() / 2]);
  }
  if (heights.empty()) return "";
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  const double range = *high - *low;
  std::string out;
  for (const double height : heights) {
    const auto level = range > 0 ? static_cast<size_t>((height - *low) / range * 7.999) : size_t{3};
    out += utf8 ? kBlocks[level] : kPlain[level];
  }
  return out;
}

std::string_view Word(TrendChange kind) {
  switch (kind) {
    case TrendChange::kImprovement: return "improvement";
    case TrendChange::kRegression: return "regression";
    case TrendChange::kChange: break;
  }
  return "change";
}

std::string When(const TrendPoint& point, size_t index) {
  std::string text = point.unix_ns ? FormatTimestamp(*point.unix_ns).substr(0, kDayOnly) : StrCat("value ", index);
  if (!point.commit.empty()) text += StrCat(" ", Printable(point.commit.substr(0, kShortSha)));
  return text;
}

std::string ChangeLine(const Trend& trend, const ChangePoint& change) {
  std::string line = StrCat("    ", When(trend.points[change.index], change.index), "  ");
  line += change.relative_change ? Signed(*change.relative_change) : "";
  line += StrCat("  ", Number(change.before, trend.unit), " to ", Number(change.after, trend.unit), "  ",
                 Word(KindOf(trend, change)));
  if (change.first != change.last)
    line += StrCat(", between ", When(trend.points[change.first], change.first), " and ",
                   When(trend.points[change.last], change.last));
  return line + "\n";
}

std::string DriftLine(const Trend& trend) {
  if (!trend.drift || !trend.drift->Drifts() || !trend.drift->relative) return "";
  const double more = *trend.drift->relative;
  const bool known = trend.higher_is_better.has_value();
  const bool better = known && (more > 0) == *trend.higher_is_better;
  return StrCat("    drifts by ", Signed(more * 100), " in a hundred runs since the last change",
                known ? better ? ", for the better" : ", for the worse" : "", "\n");
}

void WriteChange(JsonWriter& json, const Trend& trend, const ChangePoint& change) {
  json.BeginObject();
  json.Field("index", change.index);
  json.Field("first", change.first);
  json.Field("last", change.last);
  json.Field("kind", Word(KindOf(trend, change)));
  json.Field("before", change.before);
  json.Field("after", change.after);
  json.Field("relative_change", change.relative_change);
  const TrendPoint& point = trend.points[change.index];
  if (point.unix_ns) json.Field("timestamp", FormatTimestamp(*point.unix_ns));
  json.FieldUnlessEmpty("commit_sha", point.commit);
  json.FieldUnlessEmpty("first_commit", trend.points[change.first].commit);
  json.FieldUnlessEmpty("last_commit", trend.points[change.last].commit);
  json.EndObject();
}

}  // namespace

std::string TrendText(const TrendReport& report, bool utf8) {
  std::string text;
  for (const Trend& trend : report.trends) {
    const std::vector<double> values = ValuesOf(trend);
    if (values.empty()) continue;
    text += StrCat(Printable(trend.metric), ": ", values.size(), values.size() == 1 ? " run" : " runs", ", last ",
                   Number(values.back(), trend.unit), "\n    ", Spark(values, utf8), "\n");
    for (const ChangePoint& change : trend.changes) text += ChangeLine(trend, change);
    if (trend.changes.empty()) text += "    no change of level\n";
    text += DriftLine(trend);
  }
  return text.empty() ? StrCat("no runs in ", Printable(report.place), "\n") : text;
}

std::string TrendJson(const TrendReport& report) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("history", report.place);
  json.Key("metrics");
  json.BeginArray();
  for (const Trend& trend : report.trends) {
    json.BeginObject();
    json.Field("metric", trend.metric);
    json.FieldUnlessEmpty("unit", trend.unit);
    json.Field("higher_is_better", trend.higher_is_better);
    json.Field("runs", trend.points.size());
    json.Key("changes");
    json.BeginArray();
    for (const ChangePoint& change : trend.changes) WriteChange(json, trend, change);
    json.EndArray();
    if (trend.drift) {
      json.Key("drift");
      json.BeginObject();
      json.Field("drifts", trend.drift->Drifts());
      json.Field("slope", trend.drift->slope);
      json.Field("low", trend.drift->low);
      json.Field("high", trend.drift->high);
      json.Field("relative", trend.drift->relative);
      json.EndObject();
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
