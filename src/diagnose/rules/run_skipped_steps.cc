// SPDX-License-Identifier: Apache-2.0
// The loss scaler skips steps: gradients overflowed, and the work of the step is thrown away.
//
// The gain is the time of the skipped steps: all of it goes with bfloat16, which needs no scaling (high); we expect
// nine tenths and at least half.
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"
#include "diagnose/whole_run_view.h"
#include "fixes/names.h"

namespace gapless::internal::run_skipped_steps_rule {
namespace {

// Ours: with PyTorch's defaults GradScaler doubles the scale every 2000 steps, which skips one step each time at the
// most; the scale's first search skips some ten steps once. 1 %, and more steps than the search, is another matter.
constexpr double kSkippedStepsShare = 0.01;
constexpr int64_t kSkippedStepsOfTheSearch = 16;

constexpr std::string_view kNeeds[] = {"whole_run"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  const WholeRunSum skipped = run.Sum("skipped_step");
  const double share = run.Share(skipped.total_ns);
  if (!run.knows() || skipped.calls <= kSkippedStepsOfTheSearch || share < kSkippedStepsShare)
    return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("GradScaler skips ", FormatCount(skipped.calls), " of ", FormatCount(run.steps()), " steps");
  found.description =
      StrCat("The gradients of ", FormatCount(skipped.calls), " steps held an infinity or NaN, so that the optimiser ",
             "did not step and their work is lost: ", run.ShareText(skipped.total_ns), ".");
  const std::string line = LineOfMade(tables.run(), "GradScaler");
  found.evidence.push_back(
      {.text = StrCat(FormatCount(skipped.calls), " skipped steps: ", FormatDuration(skipped.total_ns)),
       .value = static_cast<double>(skipped.calls),
       .table = "whole_run",
       .source = line});
  for (const size_t row : skipped.rows)
    found.evidence.push_back({.text = std::string(run.table().Text(row, "detail")), .table = "whole_run"});
  found.recommendations.push_back({StrCat("train in bfloat16, whose range needs no loss scale", InLine(line)),
                                   fixes::kAmp.Item("bf16"),
                                   "torch.autocast(\"cuda\", dtype=torch.bfloat16)  # without GradScaler", "minutes"});
  found.recommendations.push_back(
      {"find the step whose gradients overflow: a high learning rate, a division, a logarithm", "",
       "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "hours"});
  const auto ns = static_cast<double>(skipped.total_ns);
  found.gain = run.GainOf(ns * 0.5, ns * 0.9, ns, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(run_skipped_steps) = {
    .id = "run_skipped_steps",
    .type = BottleneckType::kKernelEfficiency,
    .title = "GradScaler skips steps: their work is thrown away",
    .why =
        "Steps whose optimiser the loss scaler did not let step, as the agent saw in every step but the first and "
        "the recorded ones. Reported at 17 steps and 1 % of the time or more: the scaler's first search skips some ten "
        "steps, and later one in 2000.",
    .saves = "½, 9/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::run_skipped_steps_rule
