// SPDX-License-Identifier: Apache-2.0
// Table step_trend, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct StepTrendRows : TypedRows<StepTrendRows> {
  static constexpr std::string_view kName = "step_trend";
  static constexpr std::string_view kHelp =
      "How the duration of steps changes in the course of the run, of all that the agent saw";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"steps", kInt, "", "steps that count, without those with an evaluation, a checkpoint or a compilation in them"},
      {"total_ns", kInt, "ns", "their duration"},
      {"first_ns", kInt, "ns", "median step of the first quarter of them"},
      {"second_ns", kInt, "ns", "of the second"},
      {"third_ns", kInt, "ns", "of the third"},
      {"last_ns", kInt, "ns", "of the last"},
      {"slope_ns", kReal, "ns",
       "by how much a step is longer than the one before: Theil-Sen slope of at most 24 groups"},
      {"rank_correlation", kReal, "", "Kendall's tau of the groups: 1 when each is longer than all before it"},
      {"wait_growth_ns", kInt, "ns", "median wait for batches of the last quarter less that of the first"},
      {"excess_ns", kInt, "ns", "of total_ns what is beyond first_ns, step by step"},
  };
};

}  // namespace gapless::internal
