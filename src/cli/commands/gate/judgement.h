// SPDX-License-Identifier: Apache-2.0
// What `gapless gate` found, and the forms in which it is told.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/history_gate.h"

namespace gapless::internal {

// One metric against its baseline. Shares are of the baseline; `change` above 0 is a larger value.
struct MetricJudgement {
  std::string metric, unit;
  bool higher_is_better = false;
  GateKind kind = GateKind::kCannotTell;
  bool confirmed = false;  // by fresh runs
  std::string reason;      // why it cannot tell
  double current = 0;
  std::optional<double> baseline, change, change_low, change_high, noise, mde;
  size_t runs = 0;  // of the baseline, or pairs
};

struct Judgement {
  std::string against;                   // "the last 34 runs of main", "a1b2c3d4e5 Faster loader"
  std::vector<MetricJudgement> metrics;  // the first is the one that was named first
  double threshold = 0.05;
  std::optional<double> false_alarm_rate;  // of the whole judgement; absent for the bare rule
  std::string false_alarm_over;            // "100 runs without a change"
  std::string culprit;                     // commit the slower runs begin with; empty: not known
  std::vector<std::string> notes;

  bool IsRegression() const;
  GateKind Kind() const;  // a regression of any metric; else what the first metric says
};

std::string Recommendation(const Judgement& judgement);

std::string GateText(const Judgement& judgement);
std::string GateJson(const Judgement& judgement);
std::string GateMarkdown(const Judgement& judgement);  // a comment on a pull request
std::string GateJunit(const Judgement& judgement);
std::string GateSarif(const Judgement& judgement);
std::string GateGithub(const Judgement& judgement);  // workflow commands, which become annotations

// The names of the forms, and one of them.
std::vector<std::string_view> GateFormats();
std::string GateAs(const Judgement& judgement, std::string_view format);

}  // namespace gapless::internal
