// SPDX-License-Identifier: Apache-2.0
// Steps become longer in the course of the run: the program adds to something in every step and never takes it away.
//
// The gain: if all steps took what those of the first quarter take, the time beyond would go (high). Where the inputs
// grow on purpose none of it does (low). We expect three quarters: what grows without end is rarely wanted.
// Assumptions.
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyses/rows/growing_calls.h"
#include "analyses/rows/host_steps.h"
#include "analyses/rows/step_trend.h"
#include "base/series_trend.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/rule.h"
#include "trace/workload.h"

namespace gapless::internal::step_growth_rule {
namespace {

// Ours: a run of fewer steps has quarters of less than ten, in which one slow step shows; growth by less than three
// tenths is within what clocks and other programs on the machine do.
constexpr int64_t kMinGrowthSteps = 40;
constexpr double kMinStepGrowth = 1.3;
// Ours: noise alone gives 24 groups a tau of 0.3 in 2 of 100 runs, and sorted quarters besides in far fewer.
constexpr double kMinBlurredRank = 0.3;
// Ours: what is said of waiting for batches from this part of the growth on.
constexpr double kMinWaitPart = 0.5;
constexpr size_t kMaxNamedCalls = 3;

constexpr std::string_view kNeeds[] = {"step_trend", "growing_calls", "host_steps"};

// On a busy machine the order of the steps is blurred. Where recorded steps call something more and more often there is
// a second witness, and it is enough that no quarter is below the one before.
bool IsBlurredGrowth(const SeriesTrend& trend) {
  return trend.slope > 0 && trend.rank >= kMinBlurredRank && std::ranges::is_sorted(trend.quarters);
}

bool IsGrowing(const StepTrendRows& table, size_t row, bool calls_grow) {
  const SeriesTrend trend{{table.Real(row, "first_ns"), table.Real(row, "second_ns"), table.Real(row, "third_ns"),
                           table.Real(row, "last_ns")},
                          table.Real(row, "slope_ns"),
                          table.Real(row, "rank_correlation")};
  return table.Int(row, "steps") >= kMinGrowthSteps &&
         (GrowsSteadily(trend) || (calls_grow && IsBlurredGrowth(trend))) &&
         trend.quarters.back() >= kMinStepGrowth * trend.quarters.front();
}

// A model that only generates has more to attend to in each step.
bool OnlyInfers(const Run& run, int64_t trace) {
  return PartOf(*run.traces()[static_cast<size_t>(trace)].trace) == JobPart::kOnlyCalls;
}

std::optional<size_t> MostGrown(const StepTrendRows& table, bool calls_grow, const Run& run) {
  std::optional<size_t> most;
  for (size_t row = 0; row < table.rows(); ++row)
    if (IsGrowing(table, row, calls_grow) && !OnlyInfers(run, table.Int(row, "trace")) &&
        (!most || table.Int(row, "excess_ns") > table.Int(*most, "excess_ns")))
      most = row;
  return most;
}

// Says by how much a step is longer than the one before, and where that goes if it is known.
std::vector<Evidence> SlopeOf(const StepTrendRows& table, size_t row) {
  const double slope_ns = table.Real(row, "slope_ns") * 100;
  std::vector<Evidence> all{
      {.text = StrCat("steps become ", FormatDuration(std::llround(slope_ns)), " longer in 100 steps; medians of the ",
                      "quarters of the run are ", FormatDuration(table.Int(row, "first_ns")), ", ",
                      FormatDuration(table.Int(row, "second_ns")), ", ", FormatDuration(table.Int(row, "third_ns")),
                      " and ", FormatDuration(table.Int(row, "last_ns"))),
       .value = slope_ns,
       .unit = "ns",
       .table = "step_trend"}};
  const int64_t growth_ns = table.Int(row, "last_ns") - table.Int(row, "first_ns");
  const int64_t wait_ns = table.Int(row, "wait_growth_ns");
  if (static_cast<double>(wait_ns) >= kMinWaitPart * static_cast<double>(growth_ns))
    all.push_back({.text = StrCat(FormatDuration(wait_ns), " of it are waiting for batches: the loader becomes slower"),
                   .value = static_cast<double>(wait_ns),
                   .unit = "ns",
                   .table = "step_trend"});
  return all;
}

// "train.py(7): keep_mean" begins at "train.py:7".
std::string BeginningOf(std::string_view frame) {
  const size_t close = frame.find("): "), open = close == frame.npos ? close : frame.rfind('(', close);
  return open == frame.npos ? "" : StrCat(frame.substr(0, open), ":", frame.substr(open + 1, close - open - 1));
}

// Names what recorded steps call more and more often.
std::vector<Evidence> GrowingCalls(const GrowingCallsRows& calls) {
  std::vector<Evidence> all;
  for (size_t row = 0; row < calls.rows() && all.size() < kMaxNamedCalls; ++row) {
    const std::string_view name = calls.Text(row, "name");
    const bool is_function = calls.Text(row, "kind") == "function";
    all.push_back(
        {.text = StrCat(FrameText(name), " is called ", FormatCount(calls.Int(row, "first_calls")), " times in step ",
                        calls.Int(row, "first_step"), ", ", FormatCount(calls.Int(row, "last_calls")),
                        " times in step ", calls.Int(row, "last_step")),
         .value = static_cast<double>(calls.Int(row, "last_calls") - calls.Int(row, "first_calls")),
         .table = "growing_calls",
         .source = is_function ? BeginningOf(name) : std::string(calls.Text(row, "source_line"))});
  }
  return all;
}

// Names the line with most time in operators, for a run in which no call is known to grow.
std::vector<Evidence> BusiestLine(const HostStepsRows& steps) {
  for (size_t row = 0; row < steps.rows(); ++row)
    if (!steps.IsNull(row, "operator_line"))
      return {{.text = "of the recorded steps, operators of this line take most of the time",
               .table = "host_steps",
               .source = std::string(steps.Text(row, "operator_line"))}};
  return {};
}

// The calls that grow come first; the title says already by how much steps do.
std::vector<Evidence> EvidenceOf(Tables& tables, const StepTrendRows& table, size_t row) {
  std::vector<Evidence> all = GrowingCalls(tables.Get<GrowingCallsRows>());
  const bool knows = !all.empty();
  for (Evidence& evidence : SlopeOf(table, row)) all.push_back(std::move(evidence));
  if (knows) return all;
  for (Evidence& evidence : BusiestLine(tables.Get<HostStepsRows>())) all.push_back(std::move(evidence));
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto table = tables.Get<StepTrendRows>();
  const std::optional<size_t> row = MostGrown(table, tables.Get<GrowingCallsRows>().rows() > 0, tables.run());
  if (!row) return std::vector<Bottleneck>{};
  const int64_t total_ns = table.Int(*row, "total_ns"), excess_ns = table.Int(*row, "excess_ns");
  Bottleneck found;
  found.share_of_step = static_cast<double>(excess_ns) / static_cast<double>(total_ns);
  found.title =
      StrCat("steps grow: ", FormatDuration(table.Int(*row, "first_ns")), " in the first quarter of the run, ",
             FormatDuration(table.Int(*row, "last_ns")), " in the last");
  found.description =
      StrCat("Steps become longer all through the run of ", FormatCount(table.Int(*row, "steps")), " steps; ",
             FormatPercent(*found.share_of_step), " of their time is beyond what those of the first quarter take. ",
             "Unless its inputs grow, the program adds to something in each step and does not take it away.");
  found.evidence = EvidenceOf(tables, table, *row);
  found.recommendations.push_back(
      {"look for what is added in every step and stays: hooks (register_…_hook in the loop), callbacks, lists that are "
       "walked through, a loss that keeps the graphs of all steps",
       "", "handle = layer.register_forward_hook(hook)  # once, before the loop; or handle.remove() behind the step",
       "minutes"});
  found.recommendations.push_back({"record the beginning and the end of the run, and compare what they call", "",
                                   "gapless profile --wait 100 --repeat 2 -- python train.py", "minutes"});
  const auto excess = static_cast<double>(excess_ns);
  found.gain = EstimateGain(
      {.wall_ns = total_ns, .low_ns = 0, .expected_ns = excess * 0.75, .high_ns = excess, .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(step_growth) = {
    .id = "step_growth",
    .type = BottleneckType::kStepVariation,
    .title = "Steps become longer and longer in the course of the run",
    .why =
        "Durations of all steps that the agent saw, without the first, the recorded ones, and those with an "
        "evaluation, a checkpoint or a compilation in them; not of programs that only infer, whose steps may grow with "
        "what they have generated. Reported with 40 steps or more where the median of the last quarter is "
        "1.3 times that of the first or more, each quarter adds at least 0.1 of the growth to the one before (a phase "
        "or a jump does not), and the order is clear (Kendall's tau of 0.6 or more). Where recorded steps call "
        "something more and more often, as on a busy machine, "
        "it is enough that no quarter is below the one before, with a tau of 0.3. What grows is named where "
        "recorded steps call it more often from one to the next.",
    .saves = "0, ¾, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::step_growth_rule
