// SPDX-License-Identifier: Apache-2.0
// From what the rules found to what a report is made of: the choice of rules, the summary, the costs. The type
// RunSummary is public: gapless/summary.h.
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/analysis.h"
#include "diagnose/cost.h"
#include "diagnose/rule.h"
#include "gapless/report_options.h"
#include "gapless/summary.h"

namespace gapless::internal {

// Returns the summary of a run. `single_step_ns`: the step time of the same job on one GPU, for its scaling efficiency;
// absent: not known.
RunSummary Summarise(Tables& tables, const Diagnosis& diagnosis, std::optional<int64_t> single_step_ns = {});

struct Findings {
  Diagnosis diagnosis;  // what the chosen rules found
  RunSummary summary;   // summary of the run
  std::optional<RunCost> cost;
};

// The findings of the rules that `options` ask for. Ids that name no rule choose nothing: callers check them.
Diagnosis Choose(Diagnosis diagnosis, const AnalyzeOptions& options);

// Returns the findings of a run with its summary and costs. `diagnosis`: of the chosen rules.
Findings Conclude(Tables& tables, Diagnosis diagnosis, const AnalyzeOptions& options);

}  // namespace gapless::internal
