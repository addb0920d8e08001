// SPDX-License-Identifier: Apache-2.0
// Unfused attention (separate products and softmax) becomes scaled dot product attention: one fused kernel each way.
//
// Model. The kernels of an unfused attention (analysis attention: bmm, what scales and masks, softmax, bmm, and the
// same backwards) go; one takes their place that never writes the scores, so that its arithmetic is what takes time:
//
//   forward 2 products, backward 5 (one is done again)   at a share of the speed of the recording's own products
//
// It is never slower than what it replaces: the dispatcher would not choose it. Where shapes were not recorded the
// products keep their time and what is between them goes. Of all operators the host calls one.
//
// Prior. FlashAttention reaches 25 to 40 % of an A100's peak, FlashAttention-2 50 to 73 % (Dao 2023), good products 80
// to 90 %: 0.35, 0.6 and 0.85 of the speed of products. Without shapes a half, a fifth and nothing of the time between.
#include <algorithm>
#include <cmath>

#include "analyses/op_chains.h"
#include "analyses/rows/roofline.h"
#include "analyses/surroundings.h"
#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/op_inputs.h"

namespace gapless::internal::sdpa_fix {
namespace {

constexpr double kMinNs = 5000;                                // minimum time of a kernel with its launch gap, in ns
constexpr double kForwardProducts = 2, kBackwardProducts = 5;  // matrix products in the fused kernel

// FLOPs per ns of the recording's matrix products, without those of unfused attention if there are others; NaN: not
// known.
double ProductSpeed(const WhatIfInput& input) {
  const auto table = input.tables.Get<RooflineRows>();
  double flops[2] = {}, ns[2] = {};
  for (size_t row = 0; row < table.rows(); ++row) {
    if (table.Int(row, "trace") != input.of.index || table.Text(row, "kind") != "gemm" || table.IsNull(row, "flops"))
      continue;
    const std::string_view name = table.Text(row, "operator");
    const size_t batched = name == "aten::bmm" || name == "aten::baddbmm" ? 1 : 0;
    flops[batched] += table.Real(row, "flops") * static_cast<double>(table.Int(row, "calls"));
    ns[batched] += static_cast<double>(table.Int(row, "device_ns"));
  }
  return flops[0] > 0 ? flops[0] / ns[0] : flops[1] / ns[1];
}

struct Shares {
  double speed = 0;    // FLOPs per ns of the fused kernel; NaN: not known
  double between = 0;  // what is left of the time between the products where FLOPs are not known
};

class Written : public ChainSink {
 public:
  Written(const Trace& trace, Shares shares)
      : factor(trace.slices.size(), 1),
        removed(trace.slices.size()),
        trace_(trace),
        names_(trace),
        inputs_(trace),
        shares_(shares) {}

  void Chain(const OpChain& chain) override {
    const AttentionPart part = names_.PartOf(trace_, chain);
    if (part == AttentionPart::kNone) return;
    const std::vector<GpuOpId> products = Products(chain, part == AttentionPart::kBackward);
    double between = 0, all = 0, flops = 0;
    for (const ChainLink& link : chain.links) between += static_cast<double>(link.dur_ns);
    for (const GpuOpId product : products) {
      all += static_cast<double>(trace_.gpu_ops.dur_ns[product.value]);
      flops += inputs_.WorkOf(trace_.gpu_ops.op[product.value]).flops;
    }
    all += between;
    if (all <= 0) return;
    const double count = part == AttentionPart::kForward ? kForwardProducts : kBackwardProducts;
    double takes = flops / static_cast<double>(products.size()) * count / shares_.speed;
    takes = std::isfinite(takes) ? std::max(kMinNs, takes) : all - (1 - shares_.between) * between;
    Replace(chain, products, std::min(1.0, takes / all));
  }

  std::vector<double> factor;    // by operator: on the time of its kernels
  std::vector<uint8_t> removed;  // by slice: the host no longer calls it
  size_t replaced = 0;

 private:
  // Forward one before and one after; backward two each, where they are next to each other on the stream.
  std::vector<GpuOpId> Products(const OpChain& chain, bool backward) const {
    std::vector<GpuOpId> products{chain.before, chain.after};
    if (!backward) return products;
    if (names_.IsProduct(trace_, chain.before2)) products.push_back(chain.before2);
    const GpuOpTable& ops = trace_.gpu_ops;
    for (uint32_t op = chain.after.value + 1; op < ops.size(); ++op) {
      if (ops.device[op] != chain.device || ops.stream[op] != ops.stream[chain.after.value]) continue;
      if (names_.IsProduct(trace_, GpuOpId(op))) products.emplace_back(op);
      break;
    }
    return products;
  }

  void Replace(const OpChain& chain, const std::vector<GpuOpId>& products, double share) {
    ++replaced;
    for (const ChainLink& link : chain.links) factor[link.op.value] = share, removed[link.op.value] = 1;
    for (const GpuOpId product : products) {
      const SliceId by = trace_.gpu_ops.op[product.value];
      factor[by.value] = share, removed[by.value] = product == chain.before ? 0 : 1;
    }
  }

  const Trace& trace_;
  const AttentionNames names_;
  OpInputs inputs_;
  const Shares shares_;
};

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  WhatIfEffect effect;
  if (!HasOperators(trace)) {
    effect.refusal = WhyNoOperators(trace);
    return effect;
  }
  const double speed = ProductSpeed(input);
  Written written(trace,
                  {.speed = speed * ValueFor(estimate, 0.35, 0.6, 0.85), .between = ValueFor(estimate, 0.5, 0.2, 0)});
  if (const TraceTimeline* timeline = TimelineOf(input); timeline != nullptr)
    FindChains(*timeline, input.Once(Surroundings), written);
  if (written.replaced == 0) {
    const bool fused =
        std::find(ops.op_class.begin(), ops.op_class.end(), GpuOpClass::kAttention) != ops.op_class.end();
    effect.no_effect =
        fused ? "attention runs in fused kernels already" : "no attention in single operators was recorded";
    return effect;
  }
  MarkInside(trace, written.removed);
  times.ScaleOps([&](uint32_t op) { return ops.op[op].valid() ? written.factor[ops.op[op].value] : 1.0; });
  times.ScaleHost([&](uint32_t slice) {
    return slice != kNoRowValue && written.removed[slice] != 0 ? ValueFor(estimate, 1, 0.1, 0) : 1.0;
  });
  effect.assumptions.emplace_back("a fused kernel takes this mask, head size and element type");
  if (!(speed > 0))
    effect.assumptions.emplace_back("the products take as long as now, since their shapes were not recorded");
  return effect;
}

constexpr std::string_view kCures[] = {"eager_attention"};

}  // namespace

FIX(sdpa) = {
    .name = "sdpa",
    .help = "Compute attention by fused kernels",
    .safety = Safety::kRounding,
    .model = {.why = "The kernels of a written-out attention become one that never writes the scores, at 60 % (35 to "
                     "85 %) of the speed of the recording's own products (FlashAttention reaches 25 to 40 % of an "
                     "A100's peak, FlashAttention-2 50 to 73 %; Dao 2023).",
              .apply = Apply},
    .trial = {.why = "Where attention runs as a product, a mask, a softmax and another product. Known model classes "
                     "(transformers) switch to scaled_dot_product_attention, and its fast kernels are allowed. An "
                     "attention that the program wrote itself cannot be exchanged: then the advice is to do so by "
                     "hand. Rounds differently; dropout within the attention draws other random numbers. Prior: 130 to "
                     "96 ms a step, 1.35 times (GPT-2 124M on an A100, compiled).",
              .effort = Effort::kMedium,
              .choice = {.order = 58, .cures = kCures, .prior = 1.2},
              .live = {.between_steps = true},
              .values = Always,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::sdpa_fix
