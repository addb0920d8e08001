// SPDX-License-Identifier: Apache-2.0
// Reports, for each device, its own work and why it idled, by which ranks are compared.
#include "analyses/rows/rank_work.h"

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/own_work.h"

namespace gapless::internal::rank_work_analysis {
namespace {

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RankWorkRows> table;
  for (const OwnWork& work : tables.OnceForRun(OwnWorkOfDevices)) {
    auto row = table.Row(*work.of);
    row.Set("device", work.device).Set("compute_ns", work.compute_ns).Set("copies_ns", work.copies_ns);
    row.Set("kernels", work.kernels).Set("kernel_ns", work.kernel_ns);
    row.SetEach({"idle_data_ns", "idle_launch_ns", "idle_sync_ns", "idle_host_ns", "idle_unknown_ns"}, work.idle);
  }
  return table;
}

}  // namespace

ANALYSIS(rank_work) = AnalysisOf<RankWorkRows>({.run = Compute});

}  // namespace gapless::internal::rank_work_analysis
