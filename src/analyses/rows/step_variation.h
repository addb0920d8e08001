// SPDX-License-Identifier: Apache-2.0
// Table step_variation, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct StepVariationRows : TypedRows<StepVariationRows> {
  static constexpr std::string_view kName = "step_variation";
  static constexpr std::string_view kHelp = "How even the steps are; the slowest, and what they spend more time in";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"step", kInt, "", "an outlier's number; NULL: the row is of all complete steps of the trace"},
      {"steps", kInt, "", "complete steps"},
      {"opening", kInt, "", "1: the first complete step of the recording; NULL: the row is of all"},
      {"dur_ns", kInt, "ns", "length of the outlier's window; of all: their sum"},
      {"median_ns", kInt, "ns", "median over the steps"},
      {"mad_ns", kInt, "ns", "median absolute deviation from it"},
      {"cov", kReal, "", "standard deviation over mean; NULL: fewer than 2 steps"},
      {"outliers", kInt, "",
       "steps longer than the median by more than 3 × 1.4826 MAD and 10 %, without the opening step"},
      {"excess_ns", kInt, "ns", "what the outlier takes beyond the median; of all: summed over the outliers"},
      {"excess_share", kReal, "share", "of dur_ns"},
      {"part", kText, "",
       "where the outlier spends most more time than the median step: compute, communication, copies, data, launch, "
       "sync, "
       "host, unknown; of all: of the outliers together; NULL: no device"},
      {"part_ns", kInt, "ns", "how much more"},
  };
};

}  // namespace gapless::internal
