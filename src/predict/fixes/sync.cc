// SPDX-License-Identifier: Apache-2.0
// Calls that make the host wait for the device are taken away: torch.cuda.synchronize(), .item(), .cpu().
//
// Model. A call of the program's own (device, stream, event) is there for nobody, unless pages of managed memory that a
// kernel wrote move to the host after it: it goes in any other case. A copy that blocks is there for a value; whether
// the program can do without it until the step is over cannot be seen, so that the cautious case keeps it. What can be
// put off is the wait for the work before the copy. The copy itself blocks the host whenever it is asked for, so that
// its call keeps the time of the copy; a call of which that is all there is gains nothing.
#include <map>

#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/program.h"

namespace gapless::internal::sync_fix {
namespace {

constexpr int64_t kMinWaitNs = 20'000;  // before a copy begins: less is its launch

// Returns, for each slice, what its call takes for the copy itself; kAbsent: it copies nothing.
std::vector<int64_t> OwnCopies(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  std::vector<int64_t> own(trace.slices.size(), kAbsent);
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const SliceId launch = ops.launch[op];
    if (!launch.valid() || ops.kind[op] != GpuOpKind::kMemcpy) continue;
    const int64_t returned = trace.slices.ts_ns[launch.value] + trace.slices.dur_ns[launch.value];
    own[launch.value] = std::max<int64_t>(0, returned - ops.ts_ns[op]);
  }
  return own;
}

// Returns the times at which a page of managed memory moved to the host, or a kernel began, in order; true: a page.
std::map<int64_t, bool> PagesAndKernels(const GpuOpTable& ops) {
  std::map<int64_t, bool> times;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] == GpuOpKind::kKernel) times[ops.ts_ns[op]] = false;
    if (ops.copy_kind[op] == CopyKind::kDtoHManaged) times.try_emplace(ops.ts_ns[op], true);
  }
  return times;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const SliceTable& slices = input.trace().slices;
  const std::vector<int64_t> own = OwnCopies(input.trace());
  const std::map<int64_t, bool> pages = PagesAndKernels(input.trace().gpu_ops);
  const auto is_needed = [&](uint32_t slice) {
    const auto next = pages.lower_bound(slices.ts_ns[slice] + slices.dur_ns[slice]);
    return next != pages.end() && next->second;
  };
  size_t calls = 0, values = 0, copies = 0, needed = 0;
  const auto is_call = [&](uint32_t slice) {
    const ApiKind api = slices.api[slice];
    return api == ApiKind::kDeviceSync || api == ApiKind::kStreamSync || api == ApiKind::kEventSync;
  };
  times.DropWaits(
      EdgeKind::kSync,
      [&](uint32_t slice) {
        const bool call = is_call(slice);
        if (call && is_needed(slice)) return ++needed, false;
        const bool waits = call || own[slice] == kAbsent || slices.dur_ns[slice] - own[slice] >= kMinWaitNs;
        ++(call ? calls : waits ? values : copies);
        return call || (waits && estimate != Estimate::kPessimistic);
      },
      [&](uint32_t slice) { return is_call(slice) || own[slice] == kAbsent ? 0 : own[slice]; });
  WhatIfEffect effect;
  if (calls + values + needed + copies == 0 && !HasHost(FindProgram(input.trace()))) {
    effect.refusal = kNoHost;
    return effect;
  }
  if (calls + values == 0)
    effect.no_effect = needed > 0   ? "the host reads managed memory that the kernels wrote, and has to wait for them"
                       : copies > 0 ? "only copies hold up the host, and they block it whenever they are asked for"
                                    : "no call waits for the device";
  if (values > 0)
    effect.assumptions.push_back(StrCat(values, " waits for a value on the host can be put off until after the step"));
  return effect;
}

}  // namespace

FIX(sync) = {
    .name = "sync",
    .help = "Remove the host's waits for the GPU within a step",
    .safety = Safety::kExact,
    .model = {.why = "Calls that wait for the device no longer do. Those that fetch a value stay in the cautious case, "
                     "as the program may need it, and take the time of their own copy in any case.",
              .apply = Apply}};

}  // namespace gapless::internal::sync_fix
