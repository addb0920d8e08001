// SPDX-License-Identifier: Apache-2.0
// The fix `nccl`: settings of NCCL, one at a time. NCCL chooses them itself by a model of the machine; a trial says
// where that model is wrong.
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::nccl_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("NCCL exchanges between GPUs");
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  FixValues found{.values = {"few_blocks", "many_blocks", "tree"}};
  if (context.all_values) found.values.insert(found.values.end(), {"ring", "simple", "ll128"});
  return found;
}

constexpr std::string_view kSettings[] = {"ring", "tree", "simple", "ll128", "few_blocks", "many_blocks"};
constexpr std::string_view kCures[] = {"exposed_communication", "small_collectives", "slow_link"};

}  // namespace

FIX(nccl) = {
    .name = "nccl",
    .help = "Change a setting of NCCL: algorithm, protocol, blocks",
    .safety = Safety::kRounding,
    .trial = {.value = "SETTING",
              .grammar = {"ring, tree, simple, ll128, few_blocks or many_blocks", IsOneOf<kSettings>},
              .why = "Where exchanges of NCCL are not hidden behind kernels, or slow the kernels beside them down. "
                     "`few_blocks` (NCCL_MAX_CTAS=4) leaves more of the GPU to those, `many_blocks` (NCCL_MIN_CTAS=32) "
                     "takes more of it; `tree` and `ring` set NCCL_ALGO, `simple` and `ll128` NCCL_PROTO. Settings of "
                     "yours stay and win. Rounds differently, as sums are taken in another order. Prior: NCCL's own "
                     "choice is mostly right.",
              .effort = Effort::kQuick,
              .choice = {.order = 77, .cures = kCures, .prior = 1.02},
              .values = Values}};

}  // namespace gapless::internal::nccl_fix
