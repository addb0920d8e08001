// SPDX-License-Identifier: Apache-2.0
// Selects the runs of a history that are comparable with the newest one, and builds the trend of each metric with the
// other differences at each change.
#include "proof/trend_runs.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

#include "base/json_value.h"
#include "base/strings.h"
#include "store/metric_traits.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kUsual[] = {"samples_per_second", "step_time_ms", "gpu_utilization", "memory_usage_gb"};

// Takes unit and direction from the newest run that has them, else from the metric's name.
void TakeTraits(std::span<const BenchmarkRecord> records, Trend& trend) {
  for (const BenchmarkRecord& record : std::views::reverse(records)) {
    const MetricRecord* const metric = record.Find(trend.metric);
    if (metric == nullptr) continue;
    if (trend.unit.empty()) trend.unit = metric->unit;
    if (!trend.higher_is_better) trend.higher_is_better = metric->higher_is_better;
    if (!trend.unit.empty() && trend.higher_is_better) return;
  }
  const MetricTraits traits = TraitsOf(trend.metric);
  if (trend.unit.empty()) trend.unit = traits.unit;
  if (!trend.higher_is_better) trend.higher_is_better = traits.higher_is_better;
}

// Returns the differences between two records. A value that one side lacks does not count as different.
std::vector<std::string> Differences(const BenchmarkRecord& a, const BenchmarkRecord& b) {
  std::vector<std::string> found;
  const auto text = [&](std::string_view what, const std::string& before, const std::string& after) {
    if (!before.empty() && !after.empty() && before != after) found.push_back(StrCat(what, " ", before, " to ", after));
  };
  const auto number = [](const std::optional<int64_t>& value) { return value ? StrCat(*value) : ""; };
  text("batch size", number(a.batch_size), number(b.batch_size));
  text("framework", a.framework, b.framework);
  text("driver", a.driver, b.driver);
  text("host", a.host, b.host);
  return found;
}

// "gpu", "cpu"; empty: not known.
std::string DeviceOf(const BenchmarkRecord& record) {
  if (record.environment.empty()) return "";
  const auto environment = JsonValue::Parse(record.environment);
  return environment ? environment->TextOf("device") : "";
}

}  // namespace

bool IsSameMachine(const BenchmarkRecord& a, const BenchmarkRecord& b) {
  const auto may_be = [](const std::string& x, const std::string& y) { return x.empty() || y.empty() || x == y; };
  return may_be(a.fingerprint, b.fingerprint) && may_be(a.gpu_type, b.gpu_type) &&
         (!a.num_gpus || !b.num_gpus || *a.num_gpus == *b.num_gpus) && may_be(DeviceOf(a), DeviceOf(b));
}

TrendRuns RunsLikeTheNewest(std::vector<BenchmarkRecord> records, std::optional<size_t> limit) {
  TrendRuns runs;
  if (records.empty()) return runs;
  const BenchmarkRecord newest = records.back();
  std::set<std::string> left_out, hosts;
  for (BenchmarkRecord& record : records) {
    if (record.benchmark != newest.benchmark) {
      ++runs.other_benchmarks;
      left_out.insert(record.benchmark);
    } else if (!IsSameMachine(record, newest)) {
      ++runs.other_machines;
    } else {
      runs.records.push_back(std::move(record));
    }
  }
  if (limit && runs.records.size() > *limit)
    runs.records.erase(runs.records.begin(), runs.records.end() - static_cast<std::ptrdiff_t>(*limit));
  for (const BenchmarkRecord& record : runs.records)
    if (!record.host.empty()) hosts.insert(record.host);
  runs.benchmarks_left_out.assign(left_out.begin(), left_out.end());
  runs.hosts.assign(hosts.begin(), hosts.end());
  return runs;
}

std::vector<std::string> UsualMetrics(std::span<const BenchmarkRecord> records) {
  std::set<std::string> present;
  for (const BenchmarkRecord& record : records)
    for (const MetricRecord& metric : record.metrics) present.insert(metric.name);
  std::vector<std::string> names;
  for (const std::string_view name : kUsual)
    if (present.contains(std::string(name))) names.emplace_back(name);
  if (names.empty()) names.assign(present.begin(), present.end());
  return names;
}

Trend TrendOf(std::span<const BenchmarkRecord> records, const std::string& metric) {
  Trend trend{.metric = metric};
  TakeTraits(records, trend);
  std::vector<const BenchmarkRecord*> at;  // record of each point
  for (const BenchmarkRecord& record : records) {
    const MetricRecord* const found = record.Find(metric);
    if (found == nullptr || !std::isfinite(found->value)) continue;
    if (!found->unit.empty() && found->unit != trend.unit) {
      ++trend.other_units;
      continue;
    }
    trend.points.push_back({.unix_ns = record.recorded_unix_ns, .value = found->value, .commit = record.commit_sha});
    at.push_back(&record);
  }
  FindTrend(trend);
  for (const ChangePoint& change : trend.changes)
    trend.also_changed.push_back(Differences(*at[change.first == 0 ? 0 : change.first - 1], *at[change.last]));
  return trend;
}

}  // namespace gapless::internal
