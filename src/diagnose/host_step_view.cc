// SPDX-License-Identifier: Apache-2.0
// Sums table host_steps over all ranks, and computes shares of step time and gains from it.
#include "diagnose/host_step_view.h"

#include <algorithm>

#include "analyses/rows/host_steps.h"
#include "analyses/timeline.h"
#include "base/strings.h"
#include "diagnose/thresholds.h"

namespace gapless::internal {

namespace {

// Ours: an operator is tiny up to ten times what a call takes on that machine. (Means and standard deviations of 32
// numbers take 3 to 5, on a quiet machine and on a busy one.) Where a recording does not show what a call takes, 1.5
// µs: half of an operator that makes a view, which are two operators, PyTorch 2.15 with the profiler on.
constexpr int64_t kTinyOperatorCalls = 10, kOperatorCallNs = 1'500;
// Ours: the most Python that one operator of a loop needs, with a recorder of stacks on.
constexpr int64_t kPythonOfCallNs = 20'000;

bool Launches(const TraceTimeline& timeline) {
  const auto& api = timeline.trace().slices.api;
  return std::any_of(api.begin(), api.end(), [](ApiKind api_kind) { return IsLaunch(api_kind); });
}

}  // namespace

bool HostStepView::applies_to_all(Tables& tables) const {
  if (table_.rows() == 0) return false;
  const auto& timelines = tables.Timelines();
  return std::all_of(timelines.begin(), timelines.end(),
                     [](const TraceTimeline& timeline) { return timeline.devices.empty() && !Launches(timeline); });
}

int64_t HostStepView::Sum(HostStepsRows::IntColumn column) const {
  int64_t sum = 0;
  for (size_t row = 0; row < table_.rows(); ++row) sum += table_.Int(row, column);
  return sum;
}

double HostStepView::Share(int64_t ns) const {
  const int64_t wall = Sum("wall_ns");
  return wall > 0 ? static_cast<double>(ns) / static_cast<double>(wall) : 0;
}

std::string HostStepView::CostText(int64_t ns) const {
  if (Sum("steps") > 0) return StrCat(FormatDuration(ns / Sum("steps")), " of every step");
  const auto ranks = static_cast<int64_t>(std::max<size_t>(1, table_.rows()));
  return StrCat(FormatDuration(ns / ranks), " of ", FormatDuration(Sum("wall_ns") / ranks), " recorded");
}

std::string HostStepView::CostText(int64_t ns, std::optional<int64_t> rank) const {
  for (size_t row = 0; rank && row < table_.rows(); ++row)
    if (!table_.IsNull(row, "rank") && table_.Int(row, "rank") == *rank && table_.Int(row, "steps") > 0)
      return StrCat(FormatDuration(ns / table_.Int(row, "steps")), " of every step of rank ", *rank);
  return CostText(ns);
}

std::string HostStepView::First(HostStepsRows::TextColumn column) const {
  for (size_t row = 0; row < table_.rows(); ++row)
    if (!table_.IsNull(row, column)) return std::string(table_.Text(row, column));
  return {};
}

int64_t HostStepView::CallNs() const {
  int64_t sum = 0, ranks = 0;
  for (size_t row = 0; row < table_.rows(); ++row)
    if (!table_.IsNull(row, "call_ns")) sum += table_.Int(row, "call_ns"), ++ranks;
  return ranks > 0 ? sum / ranks : kOperatorCallNs;
}

bool HostStepView::HasTinyOperators() const {
  const int64_t operators = Sum("operators") - Sum("optimizer_operators");
  if (operators / std::max<int64_t>(1, Sum("steps")) < kHostOptimizerOperators) return false;
  const int64_t calls = std::max(operators, Sum("calls"));
  return Sum("operator_ns") / calls <= kTinyOperatorCalls * CallNs();
}

int64_t HostStepView::CallingPythonNs() const {
  if (!HasTinyOperators()) return 0;
  return std::min(Sum("python_ns"), (Sum("operators") - Sum("optimizer_operators")) * kPythonOfCallNs);
}

Gain HostStepView::GainOf(double low_ns, double expected_ns, double high_ns, double confidence) const {
  return EstimateGain({.wall_ns = Sum("wall_ns"),
                       .low_ns = low_ns,
                       .expected_ns = expected_ns,
                       .high_ns = high_ns,
                       .confidence = confidence});
}

}  // namespace gapless::internal
