// SPDX-License-Identifier: Apache-2.0
// Reinforcement learning: steps spend their time on collecting experience, with an environment that is stepped between
// two updates.
//
// The gain: several environments that are stepped at once share a call of the policy, and processes of their own step
// them beside each other. We expect half of the time between environment steps to go, which is the policy's inference;
// at most nine tenths of the whole, perhaps nothing. Assumptions.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"
#include "fixes/names.h"

namespace gapless::internal::rollout_rule {
namespace {

constexpr std::string_view kNeeds[] = {"whole_run"};
constexpr double kFew = 10;  // fewer environment steps are shown with a decimal

std::vector<Recommendation> Advice() {
  return {{"step several environments at once, so that one call of the policy infers for all of them", "",
           "envs = gymnasium.make_vec(\"CartPole-v1\", num_envs=8)", "hours"},
          {"compute on fewer threads: a policy that sees one observation is too small to be split",
           fixes::kThreads.Item("1"), "torch.set_num_threads(1)", "minutes"},
          {"step environments in processes of their own, where one step of an environment is long", "",
           "envs = gymnasium.make_vec(\"CartPole-v1\", num_envs=8, vectorization_mode=\"async\")", "hours"}};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  const WholeRunSum rollouts = run.Sum("rollout"), environment = run.Sum("environment");
  const double share = run.Share(rollouts.total_ns);
  if (!run.knows() || share < kRolloutShare) return std::vector<Bottleneck>{};
  const double each = static_cast<double>(environment.calls) / static_cast<double>(std::max<int64_t>(run.steps(), 1));
  const std::string steps = StrCat(FormatNumber(each, each < kFew ? 1 : 0), " environment steps on average");
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("collecting experience (rollout) takes ", FormatPercent(share), " of the step: ", steps);
  found.description = StrCat("Between two updates the program steps its environment and lets the policy infer: ",
                             run.ShareText(rollouts.total_ns), ", ", steps, ". Stepping the environment itself takes ",
                             FormatPercent(run.Share(environment.total_ns)),
                             " of the time, the policy and the code between the steps the rest of the rollouts.");
  found.evidence.push_back(
      {.text = StrCat(FormatCounted(rollouts.calls, "rollout"), ", the longest ", FormatDuration(rollouts.max_ns)),
       .value = share,
       .unit = "share",
       .table = "whole_run"});
  if (environment.calls > 0)
    found.evidence.push_back(
        {.text =
             StrCat("one environment step takes ", FormatDuration(environment.total_ns / environment.calls),
                    " in the environment, ", FormatDuration(rollouts.total_ns / environment.calls), " with the policy"),
         .value = static_cast<double>(environment.total_ns) / static_cast<double>(environment.calls),
         .unit = "ns",
         .table = "whole_run"});
  found.recommendations = Advice();
  const auto ns = static_cast<double>(rollouts.total_ns), inside_ns = static_cast<double>(environment.total_ns);
  found.gain = run.GainOf(0, std::max(0.0, ns - inside_ns) / 2, ns * 0.9, 0.3);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(rollout) = {
    .id = "rollout",
    .type = BottleneckType::kHostBound,
    .title = "Collecting experience for reinforcement learning takes the steps' time",
    .why =
        "A rollout goes from the first to the last environment step (`step` of gymnasium, gym and vector environments) "
        "between two updates, with the policy's inference in between; the agent times them in every step. Reported at "
        "10 % of the steps' time or more.",
    .saves = "0; half of what the policy's inference takes; 9/10 of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::rollout_rule
