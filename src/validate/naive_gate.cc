// SPDX-License-Identifier: Apache-2.0
// The rule that most scripts have: so many per cent off the mean of the last runs.
#include <string>

#include "base/result.h"
#include "validate/gate_branch.h"
#include "validate/history_gate.h"

namespace gapless::internal {

Result<GateVerdict> NaiveGate(std::span<const GateRun> history, double current, const GateOptions& options,
                              size_t runs) {
  GAPLESS_TRY(CheckGateValue(current, "the new value"));
  GateVerdict verdict;
  verdict.current = current;
  if (runs == 0 || history.size() < runs) {
    verdict.reason = "fewer past runs than the mean is of";
    return verdict;
  }
  double mean = 0;
  for (const GateRun& run : history.last(runs)) {
    GAPLESS_TRY(CheckGateValue(run.value, "a value of the history"));
    mean += run.value / static_cast<double>(runs);
  }
  verdict.baseline_first = history.size() - runs;
  verdict.baseline_runs = runs;
  verdict.window_first = history.size();
  verdict.level = mean;
  verdict.change = current / mean - 1;
  const double worse = SignOf(options) * *verdict.change;
  verdict.kind = worse > options.effect    ? GateKind::kRegression
                 : worse < -options.effect ? GateKind::kImprovement
                                           : GateKind::kFine;
  return verdict;
}

}  // namespace gapless::internal
