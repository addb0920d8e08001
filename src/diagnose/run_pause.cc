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

// A function whose part of the time is less has no line of its own in the evidence, and at most three have.
constexpr double kPartShare = 0.1;
constexpr size_t kMaxParts = 3;

bool IsSideWork(std::string_view kind) { return kind == "logging" || kind == "images" || kind == "metrics"; }

// Returns the rule whose finding covers the same time. On a device that is its idle time, on the host Python between
// operators: collecting strikes in the midst of both, and so does what is done beside the training.
std::string_view Around(const WholeRunView& run, const RunPause& pause) {
  if (run.on_device() && pause.device_idles) return "host_bound";
  return pause.kind == "garbage" || IsSideWork(pause.kind) ? "host_python" : "";
}

// Adds what the functions of the kind take, or those that an evaluation calls: most time first.
void AddParts(const WholeRunView& run, const RunPause& pause, const WholeRunSum& sum, Bottleneck& found) {
  if (pause.kind != "evaluation" && !IsSideWork(pause.kind)) return;
  const WholeRunRows& table = run.table();
  std::vector<size_t> rows = sum.rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return table.Int(a, "total_ns") > table.Int(b, "total_ns"); });
  if (rows.size() > kMaxParts) rows.resize(kMaxParts);
  for (const size_t row : rows) {
    const int64_t ns = table.Int(row, "total_ns"), calls = table.Int(row, "calls");
    if (static_cast<double>(ns) < kPartShare * static_cast<double>(sum.total_ns)) continue;
    found.evidence.push_back({.text = StrCat(pause.kind == "evaluation" ? "of it " : "", table.Text(row, "detail"),
                                             ": ", FormatCounted(calls, "call"), ", ", FormatDuration(ns),
                                             ", in the mean ", FormatDuration(ns / std::max<int64_t>(1, calls))),
                              .value = run.Share(ns),
                              .unit = "share",
                              .table = "whole_run",
                              .source = TextOr(table, row, "source_line", "")});
  }
}

}  // namespace

std::vector<Bottleneck> CheckRunPause(const WholeRunView& run, const RunPause& pause) {
  const WholeRunSum sum = run.Sum(pause.kind);
  const double share = run.Share(sum.total_ns);
  if (!run.knows() || sum.calls == 0 || share < pause.least_share) return {};
  const std::string calls = StrCat(FormatCount(sum.calls), ' ', sum.calls == 1 ? pause.once : pause.often);
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = Around(run, pause);
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
  AddParts(run, pause, sum, found);
  found.recommendations.push_back(pause.recommendation);
  const auto ns = static_cast<double>(sum.total_ns);
  found.gain = run.GainOf(ns * pause.gain.low, ns * pause.gain.expected, ns * pause.gain.high, pause.gain.confidence);
  return {std::move(found)};
}

}  // namespace gapless::internal
