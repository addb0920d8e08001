// SPDX-License-Identifier: Apache-2.0
// The fix `prefetch_factor`: more batches that wait in memory for their turn. Its blocks settle as long as those
// of `workers`, because the workers are started again.
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::prefetch_factor_fix {
namespace {

FixValues Values(const FixContext& context) {
  return context.all_values ? FixValues{.values = {"2", "4", "8", "16"}} : FixValues{.values = {"4", "8"}};
}

BlockShape LoaderBlocks(std::string_view /*value*/, size_t loader_workers, double step_ms) {
  return WorkerBlocks(loader_workers, step_ms);
}

constexpr std::string_view kCures[] = {"data_loading", "host_data_loading", "run_data_loading", "step_variation"};

}  // namespace

FIX(prefetch_factor) = {
    .name = "prefetch_factor",
    .help = "Let each loader worker have N batches ready",
    .safety = Safety::kExact,
    .trial = {.value = "N",
              .grammar = {"a whole number from 1 to 65536", IsCount<1, 65536>},
              .why = "Where the loader's workers are fast enough in the mean, but single batches come late: more "
                     "batches wait in memory for their turn. DataLoader gets prefetch_factor=N; it needs workers. N "
                     "batches of each worker stay in the memory of the host (pinned, where pin_memory is set). It "
                     "brings nothing where the workers are too slow on average. No figure is known.",
              .effort = Effort::kQuick,
              .choice = {.order = 42, .cures = kCures},
              .needs = {.loader = true},
              .live = {.between_steps = true, .block_shape = LoaderBlocks},
              .values = Values}};

}  // namespace gapless::internal::prefetch_factor_fix
