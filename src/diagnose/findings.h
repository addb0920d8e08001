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
  RunSummary summary;   // summary of the run
  std::optional<RunCost> cost;
};

// The findings of the rules that `options` ask for. Ids that name no rule choose nothing: callers check them.
Diagnosis Choose(Diagnosis diagnosis, const AnalyzeOptions& options);

// `diagnosis`: of the chosen rules.
Findings Conclude(Tables& tables, Diagnosis diagnosis, const AnalyzeOptions& options);

}  // namespace gapless::internal
