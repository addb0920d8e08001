// SPDX-License-Identifier: Apache-2.0
// The common part of the rules about rare events of a whole run: garbage, checkpoints, evaluation, logging.
#pragma once

#include <string_view>

#include "diagnose/rule.h"
#include "diagnose/whole_run_view.h"

namespace gapless::internal {

// Portions of the time that go at least, probably and at most when it happens rarely (assumptions), and how sure that
// is.
struct PauseGain {
  double low = 0.5, expected = 0.9, high = 1, confidence = 0.6;
};

struct RunPause {
  std::string_view kind;          // column `kind` of table whole_run
  double least_share = 0;         // smallest share of the steps' time that is reported
  std::string_view what;          // "writing checkpoints"
  std::string_view once, often;   // "checkpoint", "checkpoints"
  Recommendation recommendation;  // the first; rules add further ones
  PauseGain gain{};
  bool device_idles = true;  // false: a device may work meanwhile
};

// Returns what the kind costs over the run, or nothing below `least_share` or where the agent saw too few
// steps.
std::vector<Bottleneck> CheckRunPause(const WholeRunView& run, const RunPause& pause);

}  // namespace gapless::internal
