// SPDX-License-Identifier: Apache-2.0
// Adds up idle time, messages and own work of ranks.

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "analyses/columns.h"
#include "analyses/parallel_groups.h"
#include "analyses/rows/collective_groups.h"
#include "analyses/rows/rank_work.h"

namespace gapless::internal {
namespace {

struct TimesOfRank {
  int64_t idle_ns = 0, message_ns = 0, own_ns = 0;
  int64_t transfer_ns = 0, matched = 0;  // of messages that were found on the other rank, too
  bool has_work = false;
};

bool IsMessage(std::string_view kind) { return kind == "send" || kind == "recv" || kind == "send_recv"; }

std::map<int64_t, TimesOfRank> TimesOfRanks(Tables& tables) {
  std::map<int64_t, TimesOfRank> times;
  const auto work = tables.Get<RankWorkRows>();
  for (size_t row = 0; row < work.rows(); ++row) {
    TimesOfRank& of = times[work.Int(row, "trace")];
    of.has_work = true;
    of.own_ns += work.Int(row, "compute_ns") + work.Int(row, "copies_ns");
    for (const RankWorkRows::IntColumn column :
         {RankWorkRows::IntColumn("idle_data_ns"), RankWorkRows::IntColumn("idle_launch_ns"),
          RankWorkRows::IntColumn("idle_sync_ns"), RankWorkRows::IntColumn("idle_host_ns"),
          RankWorkRows::IntColumn("idle_unknown_ns")})
      of.idle_ns += work.Int(row, column);
  }
  const auto groups = tables.Get<CollectiveGroupsRows>();
  for (size_t row = 0; row < groups.rows(); ++row) {
    if (!IsMessage(groups.Text(row, "kind")) || groups.IsNull(row, "exposed_ns")) continue;
    TimesOfRank& of = times[groups.Int(row, "trace")];
    of.message_ns += groups.Int(row, "exposed_ns");
    if (groups.IsNull(row, "transfer_ns")) continue;
    of.transfer_ns += groups.Int(row, "transfer_ns"), of.matched += groups.Int(row, "matched");
  }
  return times;
}

// Own work of each rank of the group over the mean of those that were recorded.
void SetLoads(const ParallelGroup& group, const std::vector<double>& per_step, ParallelShares& shares) {
  double sum = 0;
  for (const size_t place : group.recorded) sum += per_step[place];
  if (group.recorded.size() < 2 || !(sum > 0)) return;
  for (const size_t place : group.recorded)
    shares[place].expert_load = per_step[place] * static_cast<double>(group.recorded.size()) / sum;
}

// Returns the own work of all stages but the busiest one, for which that one waits.
double OfOtherStages(std::vector<double> recorded, int64_t stages) {
  if (recorded.empty()) return 0;
  const auto others = static_cast<double>(stages - 1);
  if (recorded.size() == 1) return others * recorded[0];
  const double all = std::accumulate(recorded.begin(), recorded.end(), 0.0);
  return others * (all - std::ranges::max(recorded)) / static_cast<double>(recorded.size() - 1);
}

}  // namespace

ParallelShares ParallelSharesOf(Tables& tables) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto& timelines = tables.Timelines();
  const ParallelGroups& groups = tables.OnceForRun(ParallelGroupsOf);
  std::map<int64_t, TimesOfRank> times = TimesOfRanks(tables);
  ParallelShares shares(timelines.size(), ParallelShare{kNone, kNone});
  std::vector<double> per_step(timelines.size());
  for (size_t place = 0; place < timelines.size(); ++place) {
    const TimesOfRank& of = times[timelines[place].of->index];
    const auto steps = static_cast<int64_t>(timelines[place].window.steps.size());
    if (!of.has_work || steps == 0) continue;
    per_step[place] = static_cast<double>(of.own_ns) / static_cast<double>(steps);
    if (groups.of[place][static_cast<size_t>(ParallelDimension::kPipeline)] >= 0)
      shares[place].bubble = ShareOf(of.idle_ns + of.message_ns, timelines[place].window.span.length());
  }
  for (const ParallelGroup& group : groups.all)
    if (group.dimension == ParallelDimension::kExpert) SetLoads(group, per_step, shares);
  return shares;
}

PipelineFill PipelineFillOf(Tables& tables) {
  const auto& timelines = tables.Timelines();
  std::map<int64_t, TimesOfRank> times = TimesOfRanks(tables);
  PipelineFill fill;
  double longest_ns = 0;  // work of all stages but the busiest in a step, the longest of the pipelines
  TimesOfRank messages;
  for (const ParallelGroup& group : tables.OnceForRun(ParallelGroupsOf).all) {
    if (group.dimension != ParallelDimension::kPipeline) continue;
    fill.stages = std::max(fill.stages, group.size);
    if (group.traffic.sends + group.traffic.receives == 0) continue;
    fill.microbatches = std::max(fill.microbatches, group.microbatches);
    std::vector<double> per_step;
    for (const size_t place : group.recorded) {
      const TimesOfRank& of = times[timelines[place].of->index];
      messages.transfer_ns += of.transfer_ns, messages.matched += of.matched;
      if (const size_t steps = timelines[place].window.steps.size(); steps > 0)
        per_step.push_back(static_cast<double>(of.own_ns) / static_cast<double>(steps));
    }
    longest_ns = std::max(longest_ns, OfOtherStages(std::move(per_step), group.size));
  }
  if (fill.microbatches > 0 && longest_ns > 0) {
    const double message_ns = messages.matched > 0 ? static_cast<double>(messages.transfer_ns / messages.matched) : 0;
    fill.fill_ns = longest_ns / fill.microbatches + static_cast<double>(2 * (fill.stages - 1)) * message_ns;
  }
  return fill;
}

}  // namespace gapless::internal
