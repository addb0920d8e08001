// SPDX-License-Identifier: Apache-2.0
// Chains of elementwise operators, reductions and normalisations become one kernel each: by hand, by a library's fused
// layer, by torch.jit. What torch.compile does besides is not in it.
//
// Model. A chain (analyses/op_chains.h) of n operators writes n − 1 tensors that the next one reads at once. One kernel
// does neither, and moves what is left at the speed at which the chain moved all of it:
//
//   time = recorded time × bytes left / bytes moved,   not below that of the quickest operator in it
//
// If shapes were not recorded, all operators of a chain count as moving the same. Of n operators the host calls one.
//
// With a selector, "aten::mul > aten::add", it is the chains of exactly these operators that `gapless kernel` makes a
// kernel for (forge/find.h). Nothing is then written for the backward pass, because such a kernel computes it anew; its
// own backward pass counts as no faster. In the cautious case it moves half of the tensors between the operators all
// the same.
//
// Prior. None: the bytes are counted. What the backward pass needs must still be written, though. How much that is, is
// not recorded: everything in the cautious case, in which the host's calls stay, too; half; nothing in the best case.
#include <algorithm>
#include <cmath>

#include "analyses/op_chains.h"
#include "analyses/surroundings.h"
#include "base/strings.h"
#include "forge/find.h"
#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/op_inputs.h"

namespace gapless::internal::fusion_fix {
namespace {

class Fused : public ChainSink {
 public:
  Fused(const Trace& trace, double kept, std::string_view selector, const std::vector<uint8_t>& around)
      : factor(trace.slices.size(), 1),
        removed(trace.slices.size()),
        trace_(trace),
        attention_(trace),
        inputs_(trace),
        planner_(trace, around),
        selector_(selector),
        kept_(kept) {}

  void Chain(const OpChain& chain) override {
    if (chain.links.size() < 2 || attention_.PartOf(trace_, chain) != AttentionPart::kNone) return;
    if (selector_.empty()) return Fuse(chain.links);
    for (const PlanPart& part : planner_.PartsOf(chain))
      if (part.plan && part.plan->Pattern() == selector_) Fuse(chain.links.subspan(part.first, part.count));
  }

  std::vector<double> factor;    // by operator: on the time of its kernels
  std::vector<uint8_t> removed;  // by slice: the host no longer calls it
  size_t chains = 0;

 private:
  void Fuse(std::span<const ChainLink> links) {
    double ns = 0, least = INFINITY;
    for (const ChainLink& link : links)
      ns += static_cast<double>(link.dur_ns), least = std::min(least, static_cast<double>(link.dur_ns));
    if (ns <= 0) return;
    const double left = std::min(1.0, std::max(least / ns, BytesLeft(links)));
    for (size_t i = 0; i < links.size(); ++i) {
      factor[links[i].op.value] = left;
      removed[links[i].op.value] = i > 0 ? 1 : 0;
    }
    ++chains;
  }

  // Returns the bytes of the operator's largest input, which is the size of its result; 0 if not recorded.
  double ResultBytes(SliceId op) {
    int64_t elements = 0, bytes = 0;
    for (const Input& input : inputs_.Of(op))
      if (const int64_t count = Elements(input.shape); input.is_tensor() && count > elements)
        elements = count, bytes = count * BytesOf(input.type);
    return static_cast<double>(bytes);
  }

  double BytesLeft(std::span<const ChainLink> links) {
    double moved = 0, between = 0;
    bool known = true;
    for (const ChainLink& link : links) {
      const double result = ResultBytes(link.op);
      known = known && link.bytes > 0 && result > 0;
      moved += static_cast<double>(link.bytes);
      if (&link != &links.back()) between += result;
    }
    if (!known) moved = 2 * static_cast<double>(links.size()), between = static_cast<double>(links.size()) - 1;
    return (moved - (2 - kept_) * between) / moved;
  }

  const Trace& trace_;
  const AttentionNames attention_;
  OpInputs inputs_;
  ChainPlanner planner_;
  const std::string_view selector_;  // the operators of the chosen chains; empty: all chains
  const double kept_;                // share of the tensors between operators that is written all the same
};

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  WhatIfEffect effect;
  if (!HasOperators(trace)) {
    effect.refusal = WhyNoOperators(trace);
    return effect;
  }
  const std::vector<uint8_t>& around = input.Once(Surroundings);
  const double kept = item.selector.empty() ? ValueFor(estimate, 1, 0.5, 0) : ValueFor(estimate, 0.5, 0, 0);
  Fused fused(trace, kept, item.selector, around);
  const PoolLinks pools = item.selector.empty() ? PoolLinks::kNo : PoolLinks::kYes;
  if (const TraceTimeline* timeline = TimelineOf(input); timeline != nullptr)
    FindChains(*timeline, around, fused, pools);
  if (fused.chains == 0) {
    effect.no_effect = "no operators that could be one kernel follow each other";
    return effect;
  }
  MarkInside(trace, fused.removed);
  times.ScaleOps([&](uint32_t op) {
    const SliceId by = trace.gpu_ops.op[op];
    return by.valid() ? fused.factor[by.value] : 1.0;
  });
  times.ScaleHost([&](uint32_t slice) {
    return slice != kNoRowValue && fused.removed[slice] != 0 ? ValueFor(estimate, 1, 0.1, 0) : 1.0;
  });
  effect.assumptions.push_back(StrCat("all ", FormatCount(static_cast<int64_t>(fused.chains)),
                                      " chains of operators work on each other's results, and get a kernel each"));
  return effect;
}

}  // namespace

FIX(fusion) = {.name = "fusion",
               .help = "Fuse chains of pointwise operators into one kernel each",
               .safety = Safety::kRounding,
               .model = {.why = "Chains of pointwise operators, reductions and norms become one kernel each, which "
                                "reads and writes what is left of their bytes at the speed at which they moved all of "
                                "it; half of what the backward pass may need is still written (all to none).",
                         .apply = Apply}};

}  // namespace gapless::internal::fusion_fix
