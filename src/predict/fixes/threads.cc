// SPDX-License-Identifier: Apache-2.0
// Operators that compute on the host use N threads each (OMP_NUM_THREADS, torch.set_num_threads).
//
// Model. Only what is large is split: PyTorch gives a thread at least 32,768 elements of a pointwise operation, which
// take some tens of microseconds, and libraries of linear algebra are no more eager. Of those operators a part runs in
// one thread as before, and no machine gives more than its processors. How many threads an operator uses is taken from
// the processor time of the job: a training that keeps 1.9 processors busy uses two.
//
// Trial. More and fewer threads are proposed apart from each other, because they help different programs;
// optimize/machine_hints.h estimates each value.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/values.h"
#include "predict/host_use.h"
#include "predict/program.h"

namespace gapless::internal::threads_fix {
namespace {

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto asked, item.Count());
  const Trace& trace = input.trace();
  WhatIfEffect effect;
  const HostUse use = FindHostUse(input.tables, input.of);
  if (trace.gpu_ops.size() > 0) {
    effect.no_effect = "operators compute on a device: threads of the host only launch them";
    return effect;
  }
  if (!use.busy) {
    effect.refusal = "how many processors the training uses was not recorded (gapless profile does)";
    return effect;
  }
  const double now = std::max(1.0, std::round(*use.busy));
  const double then = std::min(static_cast<double>(*asked), use.processors.value_or(static_cast<double>(*asked)));
  const std::vector<int64_t>& own = input.Once(OwnTimes);
  const double split = ValueFor(estimate, 0.6, 0.85, 1.0);
  size_t large = 0;
  times.ScaleHost([&](uint32_t slice) {
    const bool splits = slice != kNoRowValue && IsOwnWork(trace, slice) && own[slice] >= kMinSplitNs &&
                        !trace.Text(trace.slices.name[slice]).starts_with("autograd::");
    large += splits ? 1 : 0;
    return splits ? 1 - split + split * now / then : 1.0;
  });
  if (large == 0) effect.no_effect = "no operator is large enough to be split";
  if (large > 0 && now == then) effect.no_effect = StrCat("the training keeps ", now, " processors busy already");
  return effect;
}

FixValues Values(const FixContext& context) {
  const size_t most = CpusPerRank(context);
  if (context.all_values) return AtMost(most, {most, 1, 2, 4, 8, 16, 32, 64});
  // Half: two threads of one core share what computes. One: small operators take longer to be shared than to be done,
  // and loader workers and other ranks need processors, too.
  FixValues values = AtMost(most, {most});
  for (const size_t fewer : {most / 2, size_t{1}})
    if (const std::string value = std::to_string(fewer);
        fewer > 0 && fewer < most && std::ranges::find(values.alone, value) == values.alone.end())
      values.alone.push_back(value);
  return values;
}

std::vector<std::string> Environment(const FixContext& /*context*/, std::string_view value) {
  return {StrCat("OMP_NUM_THREADS=", value)};
}

constexpr std::string_view kCures[] = {"host_operators", "host_optimizer", "host_bound", "host_straggler"};

}  // namespace

FIX(threads) = {
    .name = "threads",
    .help = "Compute on N threads of the processor, more or fewer",
    .safety = Safety::kRounding,
    .model = {.value = "N",
              .why = "Operators of at least 0.2 ms on the host are split over N threads, 85 % of them (60 to 100 %), "
                     "as far as the machine has processors. PyTorch splits pointwise work from 32,768 elements on "
                     "(at::internal::GRAIN_SIZE). How many threads work now is taken from the job's processor time.",
              .apply = Apply},
    .trial = {.value = "N",
              .grammar = {"a whole number from 1 to 4096", IsCount<1, 4096>},
              .why = "Where operators compute on the processor, and on fewer threads than there are processors: "
                     "torchrun sets OMP_NUM_THREADS=1 for several ranks, a leftover torch.set_num_threads(1) does the "
                     "same. OMP_NUM_THREADS=N, unless you set it, and torch.set_num_threads(N). Sums over several "
                     "threads are rounded in another order. Too many threads take processors from loaders and other "
                     "ranks, and small operators take longer to be shared than to be done: then fewer are faster, down "
                     "to one. With more threads the gain is at most the operators' time, divided by the threads.",
              .effort = Effort::kQuick,
              .choice = {.order = 20, .cures = kCures, .blind = true},
              .live = {.between_steps = true},
              .values = Values,
              .environment = Environment,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::threads_fix
