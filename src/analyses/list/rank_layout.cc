// SPDX-License-Identifier: Apache-2.0
// The place of each rank in its groups: stage 2 of the pipeline, third of its tensor group.
#include "analyses/rows/rank_layout.h"

#include <algorithm>

#include "analyses/columns.h"
#include "analyses/parallel_groups.h"
#include "trace/identity.h"

namespace gapless::internal::rank_layout_analysis {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RankLayoutRows> table;
  const ParallelGroups& groups = tables.OnceForRun(ParallelGroupsOf);
  if (groups.all.empty()) return table;
  const ParallelShares& shares = tables.OnceForRun(ParallelSharesOf);
  const auto& timelines = tables.Timelines();
  for (size_t place = 0; place < timelines.size(); ++place) {
    auto row = table.Row(*timelines[place].of);
    row.Set("host", std::string(IdentityOf(timelines[place].trace()).host));
    const auto coordinate = [&](ParallelDimension dimension) -> int64_t {
      const int of = groups.of[place][static_cast<size_t>(dimension)];
      if (of < 0) return kAbsent;
      const std::vector<int64_t>& ranks = groups.all[static_cast<size_t>(of)].ranks;
      const auto at = std::ranges::find(ranks, timelines[place].of->rank());
      return at == ranks.end() ? kAbsent : at - ranks.begin();
    };
    row.Set("data", coordinate(ParallelDimension::kData)).Set("tensor", coordinate(ParallelDimension::kTensor));
    row.Set("pipeline", coordinate(ParallelDimension::kPipeline));
    row.Set("expert", coordinate(ParallelDimension::kExpert));
    row.Set("expert_data", coordinate(ParallelDimension::kExpertData));
    row.Set("sequence", coordinate(ParallelDimension::kSequence));
    row.Set("context", coordinate(ParallelDimension::kContext));
    row.Set("bubble_share", shares[place].bubble).Set("expert_load", shares[place].expert_load);
  }
  return table;
}

}  // namespace

ANALYSIS(rank_layout) = AnalysisOf<RankLayoutRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::rank_layout_analysis
