// SPDX-License-Identifier: Apache-2.0
// Sums table whole_run by kind, and computes shares of the whole run's time and gains from it.
#include "diagnose/whole_run_view.h"

#include <algorithm>

#include "analyses/rows/whole_run.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/thresholds.h"

namespace gapless::internal {
namespace {

// Ours: a run of fewer steps says no more of how often something rare happens than a recording does.
constexpr int64_t kWholeRunSteps = 20;

}  // namespace

WholeRunView::WholeRunView(Tables& tables) : table_(tables.Get<WholeRunRows>()) {
  for (size_t row = 0; row < table_.rows(); ++row) {
    if (table_.Text(row, "kind") != "step") continue;
    steps_ += table_.Int(row, "calls"), wall_ns_ += table_.Int(row, "total_ns");
    on_device_ |= table_.Int(row, "on_device") == 1;
  }
}

bool WholeRunView::knows() const { return steps_ >= kWholeRunSteps; }

WholeRunSum WholeRunView::Sum(std::string_view kind) const {
  WholeRunSum sum;
  int64_t most_ns = -1;
  for (size_t row = 0; row < table_.rows(); ++row) {
    if (table_.Text(row, "kind") != kind) continue;
    if (!table_.IsNull(row, "detail")) {
      sum.rows.push_back(row);
      continue;
    }
    const int64_t ns = table_.Int(row, "total_ns");
    sum.calls += table_.Int(row, "calls"), sum.total_ns += ns;
    sum.max_ns = std::max(sum.max_ns, table_.Int(row, "max_ns"));
    if (ns > most_ns && !table_.IsNull(row, "source_line")) most_ns = ns, sum.line = table_.Text(row, "source_line");
  }
  std::stable_sort(sum.rows.begin(), sum.rows.end(),
                   [&](size_t a, size_t b) { return table_.Int(a, "calls") > table_.Int(b, "calls"); });
  return sum;
}

std::string_view WholeRunView::WholeOfHostCode(double share) const {
  const double rollouts = Share(Sum("rollout").total_ns);
  return knows() && rollouts >= kRolloutShare && rollouts >= share ? "rollout" : "";
}

double WholeRunView::Share(int64_t ns) const {
  return wall_ns_ > 0 ? static_cast<double>(ns) / static_cast<double>(wall_ns_) : 0;
}

std::string WholeRunView::CostText(int64_t ns) const {
  return StrCat(FormatDuration(ns / std::max<int64_t>(1, steps_)), " of every step");
}

std::string WholeRunView::ShareText(int64_t ns) const {
  return StrCat(FormatPercent(Share(ns)), " of the time of ", FormatCount(steps_), " steps");
}

Gain WholeRunView::GainOf(double low_ns, double expected_ns, double high_ns, double confidence) const {
  return EstimateGain({.wall_ns = wall_ns_,
                       .low_ns = low_ns,
                       .expected_ns = expected_ns,
                       .high_ns = high_ns,
                       .confidence = confidence});
}

}  // namespace gapless::internal
