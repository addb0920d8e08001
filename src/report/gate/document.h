// SPDX-License-Identifier: Apache-2.0
// The document of `gapless gate --json`, which `gapless validate` holds, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/described_json.h"
#include "report/gate/report.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<GateKind> = static_cast<int64_t>(GateKind::kCannotTell) + 1;

template <>
inline constexpr int64_t kValuesOf<NoiseLook> = kNoiseLooks;

template <>
struct Described<MetricJudgement> {
  static constexpr FieldInfo kFields[] = {
      Field<&MetricJudgement::metric>("metric", "", "name of the metric"),
      Field<&MetricJudgement::unit>("unit", "", "its unit", kUnlessEmpty),
      Field<&MetricJudgement::kind>("verdict", "", "against its baseline"),
      Field<&MetricJudgement::pending>("pending", "", "an alarm that too few runs agree on: what it would become"),
      Field<&MetricJudgement::more_runs>("more_runs", "count", "as many runs more like this make it that"),
      Field<&MetricJudgement::confirmed>("confirmed", "", "true: fresh runs confirmed it"),
      Field<&MetricJudgement::reason>("reason", "", "why nothing can be said", kUnlessEmpty),
      Field<&MetricJudgement::higher_is_better>("higher_is_better", "", "direction of the metric"),
      Field<&MetricJudgement::current>("current", "", "its value now"),
      Field<&MetricJudgement::baseline>("baseline", "", "its value before"),
      Field<&MetricJudgement::change>("change", "", "fraction of the baseline; above 0 is a larger value"),
      Field<&MetricJudgement::change_low>("change_low", "", "lower end of the interval of the change"),
      Field<&MetricJudgement::change_high>("change_high", "", "upper end of the interval"),
      Field<&MetricJudgement::noise>("noise_share", "", "noise of a run, as a fraction of the baseline"),
      Field<&MetricJudgement::noise_kind>("noise_kind", "", "kind of noise that the baseline seems to have"),
      Field<&MetricJudgement::false_alarms>("false_alarm_rate", "share",
                                            "simulated for that kind and as many runs, over 100 runs without a change"),
      Field<&MetricJudgement::mde>("mde_share", "", "smallest change that would have been seen"),
      Field<&MetricJudgement::runs_to_alarm>("runs_to_alarm", "count", "runs worse by mde_share that are a regression"),
      Field<&MetricJudgement::runs>("runs", "count", "runs of the baseline, or pairs"),
  };
};

namespace documents {

// The whole document. The members before `metrics` are those of its first metric, for scripts that judge only one.
struct Gate {
  GateKind verdict = GateKind::kCannotTell;
  bool regression_detected = false, alarm_pending = false;
  std::optional<double> current_samples_per_sec{}, baseline_samples_per_sec{};
  std::optional<std::string> metric{};
  std::optional<double> current{}, baseline{}, performance_delta{}, mde_share{};
  double threshold = 0;
  std::string judged{};
  std::optional<double> false_alarm_rate{};
  std::string false_alarm_over{}, likely_culprit_commit{}, recommendation{}, against{};
  std::vector<MetricJudgement> metrics{};
  static constexpr FieldInfo kFields[] = {
      Field<&Gate::verdict>("verdict", "", "a regression of any metric; else the verdict on the first one"),
      Field<&Gate::regression_detected>("regression_detected", "", "true: it got slower"),
      Field<&Gate::alarm_pending>("alarm_pending", "", "true: it looks slower, and too few runs agree yet"),
      Field<&Gate::current_samples_per_sec>("current_samples_per_sec", "1/s", "samples a second now"),
      Field<&Gate::baseline_samples_per_sec>("baseline_samples_per_sec", "1/s", "samples a second before"),
      Field<&Gate::metric>("metric", "", "the first metric"),
      Field<&Gate::current>("current", "", "its value now"),
      Field<&Gate::baseline>("baseline", "", "its value before"),
      Field<&Gate::performance_delta>("performance_delta", "% of the baseline", "below 0 is worse"),
      Field<&Gate::mde_share>("mde_share", "", "smallest change that would have been seen"),
      Field<&Gate::threshold>("threshold", "", "change that counts as a regression, as a fraction"),
      Field<&Gate::judged>("judged", "", "what was judged, and from when on it is a regression", kUnlessEmpty),
      Field<&Gate::false_alarm_rate>("false_alarm_rate", "share",
                                     "rate of the whole judgement at most: the sum of its metrics"),
      Field<&Gate::false_alarm_over>("false_alarm_over", "", "what the rate refers to", kUnlessEmpty),
      Field<&Gate::likely_culprit_commit>("likely_culprit_commit", "", "commit with which the slower runs begin",
                                          kUnlessEmpty),
      Field<&Gate::recommendation>("recommendation", "", "what to do next"),
      Field<&Gate::against>("against", "", "the baseline in words"),
      Field<&Gate::metrics>("metrics", "", "each metric against its baseline"),
  };
};

}  // namespace documents

extern const TypeInfo kGateDocument;
documents::Gate GateDocument(const Judgement& judgement);

}  // namespace gapless::internal
