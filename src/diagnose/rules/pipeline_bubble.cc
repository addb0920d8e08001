// SPDX-License-Identifier: Apache-2.0
// The stages of a pipeline wait at the begin and the end of each step, while it fills and drains. The affected time is
// the fill that table parallel_layout measures, at most the time in which the devices of the pipeline idle or wait for
// messages. The gain is that of cutting each microbatch in two, or in four where there are fewer microbatches than
// stages (expected); a quarter of that is promised, and all of the fill would go without a pipeline (high). The replay
// of the fix replaces this.
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyses/rows/parallel_layout.h"
#include "analyses/rows/serving_phases.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::pipeline_bubble_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "parallel_layout", "serving_phases"};

struct Bubble {
  int64_t stages = 0, fill_ns = 0;
  double microbatches = 0, share = 0;  // of a step: what fills and drains, and no more than the devices wait

  // Returns the share by the formula: even stages, and messages that take nothing.
  double Ideal() const {
    const auto others = static_cast<double>(stages - 1);
    return others / (microbatches + others);
  }
  int Pieces() const { return microbatches < static_cast<double>(stages) ? 4 : 2; }
};

std::optional<Bubble> BubbleOf(const ParallelLayoutRows& layout, double step_ns) {
  for (size_t row = 0; row < layout.rows(); ++row) {
    if (layout.Text(row, "dimension") != "pipeline" || layout.IsNull(row, "fill_ns") || step_ns <= 0) continue;
    Bubble bubble{.stages = layout.Int(row, "size"),
                  .fill_ns = layout.Int(row, "fill_ns"),
                  .microbatches = layout.Real(row, "microbatches")};
    bubble.share = static_cast<double>(bubble.fill_ns) / step_ns;
    if (!layout.IsNull(row, "bubble_share")) bubble.share = std::min(bubble.share, layout.Real(row, "bubble_share"));
    return bubble;
  }
  return std::nullopt;
}

std::vector<Recommendation> AdviceFor(const Bubble& bubble) {
  const auto count = std::llround(bubble.microbatches * bubble.Pieces());
  return {{StrCat("cut the batch of a step into more microbatches: ", count, " instead of ",
                  FormatNumber(bubble.microbatches, 0)),
           fixes::kPipeline.Item(bubble.Pieces()),
           StrCat("schedule = Schedule1F1B(stage, n_microbatches=", count, ", loss_fn=loss_fn)"), "minutes"},
          {"compute gradients of weights while the stage would idle", fixes::kPipeline.Item("zero_bubble"),
           "schedule = ScheduleInterleavedZeroBubble([stage], n_microbatches, loss_fn)", "minutes"},
          {"give each rank two stages of half the size, which lie apart: the pipeline fills twice as fast", "",
           "schedule = ScheduleInterleaved1F1B([first, second], n_microbatches, loss_fn)", "hours"}};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  if (ledger.step_rows == 0 || tables.Get<ServingPhasesRows>().rows() > 0) return std::vector<Bottleneck>{};
  const double step_ns = static_cast<double>(ledger.total.wall_ns) / static_cast<double>(ledger.step_rows);
  const auto bubble = BubbleOf(tables.Get<ParallelLayoutRows>(), step_ns);
  if (!bubble || bubble->share < kExposedCommunicationShare) return std::vector<Bottleneck>{};
  const auto lost_ns = bubble->share * static_cast<double>(ledger.total.wall_ns);
  const double goes = 1 - 1.0 / bubble->Pieces();
  Bottleneck found;
  found.share_of_step = bubble->share;
  found.part_of = "exposed_communication";
  found.title = StrCat("the pipeline of ", bubble->stages, " stages fills and drains: ranks wait ",
                       ledger.CostText(std::llround(lost_ns)));
  found.description = StrCat("A step begins with the first stage alone at work, and ends so. With ",
                             FormatDigits(std::round(10 * bubble->microbatches) / 10, 6),
                             " microbatches and even stages that is ", FormatPercent(bubble->Ideal()),
                             " of a step, and ", FormatPercent(bubble->share), " by what its stages take.");
  found.evidence.push_back(
      {.text = StrCat(bubble->stages, " stages, ", FormatDigits(std::round(10 * bubble->microbatches) / 10, 6),
                      " microbatches a step: ", FormatDuration(bubble->fill_ns), " of ",
                      FormatDuration(std::llround(step_ns)), " to fill and to drain"),
       .value = static_cast<double>(bubble->fill_ns),
       .unit = "ns",
       .table = "parallel_layout"});
  found.recommendations = AdviceFor(*bubble);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = lost_ns * goes / 4,
                             .expected_ns = lost_ns * goes,
                             .high_ns = lost_ns,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(pipeline_bubble) = {
    .id = "pipeline_bubble",
    .type = BottleneckType::kMultiGpuComm,
    .title = "A pipeline of stages fills and drains",
    .why =
        "A training whose stages send to each other and receive from each other. A step begins and ends with one "
        "stage at work: the busiest one waits for a microbatch of each other stage, by what these were recorded to "
        "take. "
        "Reported if that takes 5 % of the analysed time, no more of it than the devices idle or wait for messages.",
    .saves =
        "with each microbatch in two pieces 1/8, 1/2 of it, all of it; with fewer microbatches than stages in "
        "four: 3/16, 3/4, all. Part of exposed_communication",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::pipeline_bubble_rule
