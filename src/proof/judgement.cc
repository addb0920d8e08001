// SPDX-License-Identifier: Apache-2.0
// Derives the overall kind and the recommended next step from the judgements of the metrics.
#include "proof/judgement.h"

#include <algorithm>

#include "base/strings.h"
#include "trial/checkout.h"

namespace gapless::internal {

// A metric of which less is better is inverted: half the time is twice the performance.
std::optional<double> PerformanceChange(const MetricJudgement& metric) {
  if (!metric.baseline || metric.current <= 0 || *metric.baseline <= 0) return std::nullopt;
  const double ratio = metric.current / *metric.baseline;
  return (metric.higher_is_better ? ratio : 1 / ratio) - 1;
}

bool Judgement::IsRegression() const {
  return std::any_of(metrics.begin(), metrics.end(),
                     [](const MetricJudgement& m) { return m.kind == GateKind::kRegression; });
}

bool Judgement::IsPending() const {
  return !IsRegression() && std::any_of(metrics.begin(), metrics.end(),
                                        [](const MetricJudgement& m) { return m.pending == GateKind::kRegression; });
}

GateKind Judgement::Kind() const {
  if (IsRegression()) return GateKind::kRegression;
  if (IsPending()) return GateKind::kCannotTell;
  return metrics.empty() ? GateKind::kCannotTell : metrics[0].kind;
}

std::string NextStepOf(const Judgement& judgement) {
  switch (judgement.Kind()) {
    case GateKind::kRegression:
      if (!judgement.culprit.empty()) return StrCat("look at ", judgement.culprit, ", where the slower runs begin");
      if (judgement.baseline_commit.empty()) return "find the change: gapless bisect --good REV --bad HEAD -- CMD";
      return StrCat("find the change: gapless bisect --good ", judgement.baseline_commit.substr(0, kShortSha),
                    " --bad HEAD -- CMD");
    case GateKind::kImprovement: return "keep it: the baseline follows after ten runs";
    case GateKind::kCannotTell:
      if (judgement.IsPending() || (!judgement.metrics.empty() && judgement.metrics[0].pending))
        return "measure and record the same commit again, or use --against REV, which runs both here in turns";
      if (!judgement.baseline_commit.empty()) return "allow more pairs, or quieten the machine";
      return "record more runs of the baseline, which wants ten, or use --against REV, which needs no history";
    case GateKind::kFine: break;
  }
  return "nothing to do";
}

}  // namespace gapless::internal
