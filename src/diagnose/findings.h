// SPDX-License-Identifier: Apache-2.0
// From what the rules found to what a report is made of: the choice of rules, the summary, the costs.
#pragma once

#include <optional>

#include "diagnose/cost.h"
#include "diagnose/rule.h"
#include "diagnose/summary.h"
#include "gapless/report_options.h"

namespace gapless::internal {

struct Findings {
  Diagnosis diagnosis;  // what the chosen rules found
  RunSummary summary;   // of it
  std::optional<RunCost> cost;
};

// Ids in `options` that name no rule choose nothing: callers check them.
Findings Conclude(Tables& tables, Diagnosis diagnosis, const AnalyzeOptions& options);

}  // namespace gapless::internal
