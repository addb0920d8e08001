// SPDX-License-Identifier: Apache-2.0
// Operators that compute on the host use N threads each (OMP_NUM_THREADS, torch.set_num_threads).
//
// Only what is large is split: PyTorch gives a thread at least 32,768 elements of a pointwise operation, which take
// some tens of microseconds, and libraries of linear algebra are no more eager. Of those operators a part runs in one
// thread as before, and no machine gives more than its processors. How many threads an operator uses is taken from the
// processor time of the job: a training that keeps 1.9 processors busy uses two.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "predict/host_use.h"
#include "predict/program.h"
#include "predict/what_if.h"

namespace gapless::internal {
namespace {

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  const auto asked = item.Count();
  if (!asked) return Unexpected{asked.error()};
  const Trace& trace = input.trace();
  WhatIfEffect effect;
  const HostUse use = FindHostUse(input.tables, input.of);
  if (trace.gpu_ops.size() > 0) {
    effect.nothing = "operators compute on a device: threads of the host only launch them";
    return effect;
  }
  if (!use.busy) {
    effect.refusal = "how many processors the training uses was not recorded (gapless profile does)";
    return effect;
  }
  const double now = std::max(1.0, std::round(*use.busy));
  const double then = std::min(static_cast<double>(**asked), use.processors.value_or(static_cast<double>(**asked)));
  const std::vector<int64_t>& own = input.Once(OwnTimes);
  const double split = ValueFor(estimate, 0.6, 0.85, 1.0);
  size_t large = 0;
  times.ScaleHost([&](uint32_t slice) {
    const bool splits = slice != kNoRowValue && IsOwnWork(trace, slice) && own[slice] >= kMinSplitNs &&
                        !trace.Text(trace.slices.name[slice]).starts_with("autograd::");
    large += splits ? 1 : 0;
    return splits ? 1 - split + split * now / then : 1.0;
  });
  if (large == 0) effect.nothing = "no operator is large enough to be split";
  if (large > 0 && now == then) effect.nothing = StrCat("the training keeps ", now, " processors busy already");
  return effect;
}

}  // namespace

WHATIF(threads) = {FROM_CATALOGUE(kThreads), .value = "N",
                   .why =
                       "Operators of at least 0.2 ms on the host are split over N threads, 85 % of them (60 to 100 %), "
                       "as far as the machine has processors. PyTorch splits pointwise work from 32,768 elements on "
                       "(at::internal::GRAIN_SIZE). How many threads work now is taken from the job's processor "
                       "time.",
                   .apply = Apply};

}  // namespace gapless::internal
