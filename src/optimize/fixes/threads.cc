// SPDX-License-Identifier: Apache-2.0
// The fix `threads`: the number of threads within operators. More and fewer threads are proposed apart from each
// other, because they help different programs; machine_hints.h estimates each value.
#include <algorithm>

#include "base/strings.h"
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  const size_t most = CpusPerRank(context);
  if (context.all_values) return AtMost(most, {most, 1, 2, 4, 8, 16, 32, 64});
  // Half: two threads of one core share what computes. One: small operators take longer to be shared than to be done,
  // and loader workers and other ranks need processors, too.
  FixValues values = AtMost(most, {most});
  for (const size_t fewer : {most / 2, size_t{1}})
    if (const std::string value = std::to_string(fewer);
        fewer > 0 && fewer < most && std::ranges::find(values.apart, value) == values.apart.end())
      values.apart.push_back(value);
  return values;
}

std::vector<std::string> Environment(const FixContext& /*context*/, std::string_view value) {
  return {StrCat("OMP_NUM_THREADS=", value)};
}

constexpr std::string_view kCures[] = {"host_operators", "host_optimizer", "host_bound", "host_straggler"};

}  // namespace

FIX(threads) = {
    FROM_CATALOGUE(kThreads),
    .value = "N",
    .grammar = {"a whole number from 1 to 4096", IsCount<1, 4096>},
    .why =
        "Where operators compute on the processor, and on fewer threads than there are processors: torchrun sets "
        "OMP_NUM_THREADS=1 for several ranks, a leftover torch.set_num_threads(1) does the same. "
        "OMP_NUM_THREADS=N, unless you set it, and torch.set_num_threads(N). Sums over several threads are "
        "rounded in another order. Too many threads take processors from loaders and other ranks, and small "
        "operators take longer to be shared than to be done: then fewer are faster, down to one. With more threads "
        "the gain is at most the operators' time, divided by the threads.",
    .effort = Effort::kQuick,
    .blind = true,
    .live = true,
    .order = 20,
    .cures = kCures,
    .values = Values,
    .environment = Environment};

}  // namespace gapless::internal
