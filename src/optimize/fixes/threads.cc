// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  const size_t most = CpusPerRank(context);
  if (context.all_values) return AtMost(most, {most, 1, 2, 4, 8, 16, 32, 64});
  // Half: two threads of one core share what computes.
  return AtMost(most, {most, most / 2});
}

std::vector<std::string> Environment(const FixContext& /*context*/, std::string_view value) {
  return {StrCat("OMP_NUM_THREADS=", value)};
}

constexpr std::string_view kCures[] = {"host_operators", "host_optimizer", "host_bound", "host_straggler"};

}  // namespace

FIX(threads) = {
    .name = "threads",
    .value = "N",
    .grammar = {"a whole number from 1 to 4096", IsCount<1, 4096>},
    .help = "Compute on N threads of the processor",
    .why =
        "Where operators compute on the processor, and on fewer threads than there are processors: torchrun sets "
        "OMP_NUM_THREADS=1 for several ranks, a leftover torch.set_num_threads(1) does the same. "
        "OMP_NUM_THREADS=N, unless you set it, and torch.set_num_threads(N). Sums over several threads are "
        "rounded in another order. Too many threads take processors from loaders and other ranks. The gain is at "
        "most the operators' time, divided by the threads.",
    .safety = FixClass::kRounding,
    .effort = Effort::kQuick,
    .blind = true,
    .live = true,
    .order = 20,
    .cures = kCures,
    .values = Values,
    .environment = Environment};

}  // namespace gapless::internal
