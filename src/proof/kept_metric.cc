// SPDX-License-Identifier: Apache-2.0
// Compares the printed numbers of runs with and without a change.
#include "proof/kept_metric.h"

#include <vector>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kMetricExample = "--metric 'accuracy=accuracy ([0-9.]+)'";

std::vector<double> PrintedBy(std::span<const RunSample> samples) {
  std::vector<double> metrics;
  for (const RunSample& sample : samples)
    if (sample.metric) metrics.push_back(*sample.metric);
  return metrics;
}

}  // namespace

Result<MetricOption> ParseMetric(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos || equals + 1 == text.size())
    return Fail(ErrorCode::kUsage, "--metric takes a name and a pattern", text, std::string(kMetricExample));
  return MetricOption{text.substr(0, equals), text.substr(equals + 1)};
}

Result<void> CheckPrinted(const RunSample& sample) {
  if (sample.metric) return {};
  return Fail(ErrorCode::kUsage, "--metric matches nothing that the unchanged command prints", "",
              StrCat("try the pattern on a line of its output: ", kMetricExample));
}

std::optional<MetricChange> ChangeOfMetric(const MetricRuns& runs, bool exact) {
  const std::vector<double> with = PrintedBy(runs.with), beside = PrintedBy(runs.beside);
  const bool are_pairs = with.size() == runs.with.size() && beside.size() == with.size();
  if (are_pairs && beside.size() >= kMinMetricPairs) return ChangeOfMetricPairs(beside, with, exact);
  return ChangeOfMetric(PrintedBy(runs.without), with, exact);
}

std::string MetricObjection(const MetricRuns& runs, const std::optional<MetricChange>& change) {
  const size_t without = PrintedBy(runs.without).size(), with = PrintedBy(runs.with).size();
  if (without > 0 && without == runs.without.size() && with < runs.with.size())
    return with == 0 ? "it is no longer printed"
                     : StrCat("it is not printed in ", runs.with.size() - with, " of ", runs.with.size(), " runs");
  return change && change->changed ? StrCat("it is ", MetricWords(*change)) : "";
}

}  // namespace gapless::internal
