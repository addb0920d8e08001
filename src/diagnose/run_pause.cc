// SPDX-License-Identifier: Apache-2.0
// Checks a kind of event in table whole_run, and makes the finding that the rules about rare events share.
#include "diagnose/run_pause.h"

#include <algorithm>

#include "base/strings.h"
#include "diagnose/evidence.h"

namespace gapless::internal {

namespace {

// ", one in 10 steps", or ", 3 a step".
std::string HowOften(int64_t steps, int64_t calls) {
  if (calls < steps) return StrCat(", one in ", FormatCount((steps + calls / 2) / calls), " steps");
  return StrCat(", ", FormatCount((calls + steps / 2) / std::max<int64_t>(1, steps)), " a step");
}

}  // namespace

std::vector<Bottleneck> CheckRunPause(const WholeRunView& run, const RunPause& pause) {
  const WholeRunSum sum = run.Sum(pause.kind);
  const double share = run.Share(sum.total_ns);
  if (!run.knows() || sum.calls == 0 || share < pause.least_share) return {};
  const std::string calls = StrCat(FormatCount(sum.calls), ' ', sum.calls == 1 ? pause.once : pause.often);
  Bottleneck found;
  found.share_of_step = share;
  // On a device its idle time, on the host Python between operators: collecting strikes in the midst of both.
  found.part_of = run.on_device() && pause.device_idles ? "host_bound" : pause.kind == "garbage" ? "host_python" : "";
  found.title = StrCat(pause.what, " takes ", run.CostText(sum.total_ns), ", over the whole run");
  found.description = StrCat("The training process is busy with ", pause.what, " for ", run.ShareText(sum.total_ns),
                             InLine(sum.line), ": ", calls, HowOften(run.steps(), sum.calls), ".");
  found.evidence.push_back(
      {.text = StrCat(calls, ": ", FormatDuration(sum.total_ns), ", the longest ", FormatDuration(sum.max_ns),
                      ", in the mean ", FormatDuration(sum.total_ns / sum.calls)),
       .value = share,
       .unit = "share",
       .table = "whole_run",
       .source = sum.line});
  found.recommendations.push_back(pause.recommendation);
  const auto ns = static_cast<double>(sum.total_ns);
  found.gain = run.GainOf(ns * pause.gain.low, ns * pause.gain.expected, ns * pause.gain.high, pause.gain.confidence);
  return {std::move(found)};
}

}  // namespace gapless::internal
