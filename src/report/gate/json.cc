// SPDX-License-Identifier: Apache-2.0
// Writes `gapless gate --json`. Throughputs are filled in wherever the metric stands in the list; the other members are
// those of the first metric.
#include <algorithm>

#include "report/gate/document.h"

namespace gapless::internal {

constinit const TypeInfo kGateDocument = describe::MakeType<documents::Gate>();

documents::Gate GateDocument(const Judgement& judgement) {
  documents::Gate document{.verdict = judgement.Kind(),
                           .regression_detected = judgement.IsRegression(),
                           .alarm_pending = judgement.IsPending(),
                           .threshold = judgement.threshold,
                           .judged = judgement.judged,
                           .false_alarm_rate = judgement.false_alarm_rate,
                           .false_alarm_over = judgement.false_alarm_over,
                           .likely_culprit_commit = judgement.culprit,
                           .recommendation = NextStepOf(judgement),
                           .against = judgement.against,
                           .metrics = judgement.metrics};
  const auto rate = std::ranges::find(judgement.metrics, "samples_per_second", &MetricJudgement::metric);
  if (rate != judgement.metrics.end()) {
    document.current_samples_per_sec = rate->current;
    document.baseline_samples_per_sec = rate->baseline;
  }
  if (judgement.metrics.empty()) return document;
  const MetricJudgement& first = judgement.metrics[0];
  document.metric = first.metric;
  document.current = first.current;
  document.baseline = first.baseline;
  if (const auto change = PerformanceChange(first)) document.performance_delta = 100 * *change;
  document.mde_share = first.mde;
  return document;
}

std::string GateJson(const Judgement& judgement) {
  return DocumentOf("gate", GateDocument(judgement), judgement.notes);
}

}  // namespace gapless::internal
