// SPDX-License-Identifier: Apache-2.0
// Chains: kernels that follow each other on one stream and that a compiler would make one kernel of.
//
// A link is an operator of the framework with its kernels: elementwise, a reduction, or a normalisation. Links belong
// to one chain when they were launched by one thread in one step, nothing else ran between them on their stream, and
// their tensors fit: where shapes are recorded, the larger of two sizes is a multiple of the smaller (equal, or
// broadcast, or reduced). Whether one reads what the other wrote is not recorded. Copies by kernels (casts, layouts)
// are links between links, and looked through elsewhere, as are fills and what works on one element or with one block.
// Not links, and what ends a chain: products, convolutions, copies by the copy engine, kernels without an operator
// (graphs), kernels of compilers, compiled regions, optimisers (analysis optimizer_steps has them) and the accumulation
// of gradients. Max-pooling is a link for those who ask for it: compilers keep it apart, a kernel of one's own need
// not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/timeline.h"
#include "trace/trace.h"

namespace gapless::internal {

inline constexpr size_t kMaxLinks = 15;  // longest chain in kernels, as in TraceLens

struct ChainLink {
  SliceId op;
  StringId name;       // name of the operator
  uint32_t first = 0;  // its first kernel: row of gpu_ops
  uint32_t kernels = 0;
  int64_t dur_ns = 0;
  int64_t bytes = 0;  // that it moves at least (shapes.h); 0: not recorded
};

struct OpChain {
  std::span<const ChainLink> links;  // at least one; valid during the call
  GpuOpId before2, before, after;  // the kernels around it on the stream, of the same thread and step; not valid: none
  int32_t device = 0;
  int64_t elements = 0;  // elements of the largest tensor; 0: not recorded
};

// Receives chains; of one stream in order.
class ChainSink {
 public:
  virtual ~ChainSink() = default;
  virtual void Chain(const OpChain& chain) = 0;
};

enum class PoolLinks : uint8_t { kNo, kYes };  // is max-pooling a link?

// All chains among operations that start in the analysed window. One pass. `around`: Surroundings() of the trace.
void FindChains(const TraceTimeline& timeline, const std::vector<uint8_t>& around, ChainSink& sink,
                PoolLinks pools = PoolLinks::kNo);

// Unfused attention: products of batches of matrices around a chain that has a softmax, or the gradient of one.
enum class AttentionPart : uint8_t { kNone, kForward, kBackward };

struct AttentionNames {  // in one trace; kNone: does not occur
  explicit AttentionNames(const Trace& trace)
      : bmm(trace.strings.Find("aten::bmm")),
        baddbmm(trace.strings.Find("aten::baddbmm")),
        softmax(trace.strings.Find("aten::_softmax")),
        softmax_backward(trace.strings.Find("aten::_softmax_backward_data")) {}
  bool IsProduct(const Trace& trace, GpuOpId kernel) const;
  AttentionPart PartOf(const Trace& trace, const OpChain& chain) const;

  StringId bmm, baddbmm, softmax, softmax_backward;
};

}  // namespace gapless::internal
