// SPDX-License-Identifier: Apache-2.0
// The kernels of each device's own work: by them ranks that do more are told from those that do it more slowly.
#include "analyses/rows/rank_kernels.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/own_work.h"

namespace gapless::internal::rank_kernels_analysis {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RankKernelsRows> table;
  for (const OwnWork& work : tables.OnceForRun(OwnWorkOfDevices))
    for (const auto& [name, sum] : work.by_name) {
      auto row = table.Row(*work.of);
      row.Set("device", work.device).Set("kernel", name).Set("calls", sum.count).Set("total_ns", sum.ns);
      if (sum.with_grid == sum.count) row.Set("blocks", sum.blocks);
    }
  return table;
}

}  // namespace

ANALYSIS(rank_kernels) = AnalysisOf<RankKernelsRows>({.run = Compute});

}  // namespace gapless::internal::rank_kernels_analysis
