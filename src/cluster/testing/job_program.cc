// SPDX-License-Identifier: Apache-2.0
// Writes the programs of simulated ranks: a transformer, its microbatches one forward and one backward in turn, the
// exchanges of its dimensions, and an optimizer.
#include "cluster/testing/job_program.h"

#include <algorithm>
#include <array>

namespace gapless::internal::testing {
namespace {

enum Work : uint16_t {
  kNorm,
  kGemm,
  kAttention,
  kPointwise,
  kRouter,
  kExpertGemm,
  kEmbedding,
  kHead,
  kLoss,
  kNormBackward,
  kGemmBackward,
  kAttentionBackward,
  kPointwiseBackward,
  kExpertGemmBackward,
  kEmbeddingBackward,
  kHeadBackward,
  kLossBackward,
  kGradientNorm,
  kOptimizer,
  kBatchCopy,
  kItem,
  kAllReduceWork,
  kAllGatherWork,
  kReduceScatterWork,
  kAllToAllWork,
  kSendWork,
  kReceiveWork,
  kWorks,
};  // clang-format on

constexpr Bound kMemoryBound = Bound::kMemory, kComputeBound = Bound::kCompute;
constexpr std::array<WorkName, kWorks> kWorkNames = {{
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)",
     "aten::native_layer_norm", kMemoryBound},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     "aten::mm", kComputeBound},
    {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)",
     "aten::_flash_attention_forward", kComputeBound},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)", "aten::gelu",
     kMemoryBound},
    {"void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(float const*)", "aten::topk", kMemoryBound},
    {"void cutlass::device_kernel<grouped_gemm_bf16_nt>(grouped_gemm_bf16_nt::Params)", "aten::_grouped_mm",
     kComputeBound},
    {"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long>(long)", "aten::embedding",
     kMemoryBound},
    {"sm90_xmma_gemm_bf16f32_bf16f32_f32_tn_n_tilesize256x128x64_execute_segment_k_off_kernel__5x_cublas",
     "aten::linear", kComputeBound},
    {"void (anonymous namespace)::cunn_SoftMaxForward<4, c10::BFloat16, float>(float*, int)", "aten::_log_softmax",
     kMemoryBound},
    {"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<c10::BFloat16, float>(int)",
     "aten::native_layer_norm_backward", kMemoryBound},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
     "cublas",
     "aten::mm", kComputeBound},
    {"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8>>"
     "(Flash_bwd_params)",
     "aten::_flash_attention_backward", kComputeBound},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl>(int)",
     "aten::gelu_backward", kMemoryBound},
    {"void cutlass::device_kernel<grouped_gemm_bf16_tn>(grouped_gemm_bf16_tn::Params)", "aten::_grouped_mm",
     kComputeBound},
    {"void (anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float, long>(long const*)",
     "aten::embedding_dense_backward", kMemoryBound},
    {"sm90_xmma_gemm_bf16f32_bf16f32_f32_nt_n_tilesize256x128x64_execute_segment_k_off_kernel__5x_cublas", "aten::mm",
     kComputeBound},
    {"void (anonymous namespace)::cunn_SoftMaxBackward<4, float, float, c10::BFloat16>(float*, int)",
     "aten::_log_softmax_backward_data", kMemoryBound},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<LpNormFunctor<float, 2, 1>>(int)",
     "aten::_foreach_norm", kMemoryBound},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>(int)",
     "aten::_fused_adamw_", kMemoryBound},
    {"Memcpy HtoD (Pinned -> Device)", "aten::copy_", kMemoryBound},
    {"Memcpy DtoH (Device -> Pinned)", "aten::item", kMemoryBound},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "c10d::allreduce_", kMemoryBound},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "c10d::_allgather_base_", kMemoryBound},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "c10d::_reduce_scatter_base_",
     kMemoryBound},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "c10d::alltoall_base_", kMemoryBound},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "c10d::send", kMemoryBound},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "c10d::recv_", kMemoryBound},
}};

// Bandwidths by which the sizes of messages are chosen, in bytes a µs.
constexpr double kCardBytes = 48e3, kNvlinkBytes = 360e3;

uint8_t StreamOf(Dimension dimension) { return static_cast<uint8_t>(16 + 4 * static_cast<int>(dimension)); }

class Writer {
 public:
  Writer(const JobLayout& layout, const JobPlan& plan, int stage) : layout_(layout), plan_(plan), stage_(stage) {}

  std::vector<Instruction> Step() {
    Add({.what = Do::kBegin});
    Add({.what = Do::kLoader});
    Add({.what = Do::kCopy, .name = kBatchCopy, .us = 60, .blocks = 1 << 20});
    const int m = layout_.microbatches, warm = std::min(layout_.pipeline - stage_ - 1, m);
    for (int i = 0; i < warm; ++i) Forward(i);
    for (int i = warm; i < m; ++i) Forward(i), Backward(i - warm);
    for (int i = m - warm; i < m; ++i) Backward(i);
    for (int slot = 0; slot < slots_; ++slot) Add({.what = Do::kWait, .slot = slot});
    thread_ = 0;
    Kernel(kGradientNorm, 0.4, 0);
    for (int i = 0; i < 6; ++i) Kernel(kOptimizer, 0.5 * plan_.optimizer, 0);
    Add({.what = Do::kSync, .name = kItem});
    Add({.what = Do::kEnd});
    return std::move(program_);
  }

 private:
  bool first() const { return stage_ == 0; }
  bool last() const { return stage_ == layout_.pipeline - 1; }
  void Add(Instruction one) {
    one.thread = thread_;
    one.microbatch = microbatch_;
    program_.push_back(one);
  }
  void Kernel(Work name, double units, uint8_t tokens, bool of_experts = false) {
    Add({.what = Do::kKernel,
         .name = name,
         .tokens = tokens,
         .of_experts = of_experts,
         .us = units * plan_.unit_us * (last() ? plan_.last_stage : 1),
         .blocks = static_cast<uint32_t>(64 + 1500 * units)});  // clang-format off
  }
  // clang-format on
  // An exchange that the compute stream waits for at once (slot −1: a slot of its own that is waited for here).
  int Launch(Exchange what, Dimension dimension, double bytes, int peer = 0) {
    constexpr Work kNames[] = {kAllReduceWork, kAllGatherWork, kReduceScatterWork,
                               kAllToAllWork,  kSendWork,      kReceiveWork};
    uint8_t stream = StreamOf(dimension);
    if (what == Exchange::kSend) stream = static_cast<uint8_t>(stream + (peer > 0 ? 0 : 1));
    if (what == Exchange::kReceive) stream = static_cast<uint8_t>(stream + (peer > 0 ? 2 : 3));
    const int slot = NextSlot();
    Add({.what = Do::kExchange,
         .name = kNames[static_cast<size_t>(what)],
         .stream = stream,
         .dimension = dimension,
         .exchange = what,
         .bytes = bytes,
         .slot = slot,
         .peer = peer});
    return slot;
  }
  void AtOnce(Exchange what, Dimension dimension, double bytes, int peer = 0) {
    Add({.what = Do::kWait, .slot = Launch(what, dimension, bytes, peer)});
  }
  int NextSlot() {
    const int slot = next_slot_;
    next_slot_ = (next_slot_ + 1) % kMaxSlots;
    slots_ = std::min(kMaxSlots, slots_ + 1);
    return slot;
  }

  // Who cuts a model into stages gives the last one fewer layers; here its head is smaller instead.
  double HeadShare() const { return layout_.pipeline > 1 ? 0.06 * plan_.layers + 0.1 : 1; }
  double StageBytes() const { return 0.3 * plan_.unit_us * kCardBytes; }
  // Activations before or after a block, where tensor parallel ranks put them together.
  void TensorExchange(bool before) {
    if (layout_.tensor == 1) return;
    const double bytes = 0.25 * plan_.unit_us * kNvlinkBytes;
    if (!layout_.sequence_parallel && before) return;
    if (!layout_.sequence_parallel) return AtOnce(Exchange::kAllReduce, Dimension::kTensor, bytes);
    AtOnce(before ? Exchange::kAllGather : Exchange::kReduceScatter, Dimension::kTensor, bytes);
  }
  void Tokens() {
    if (layout_.expert > 1) AtOnce(Exchange::kAllToAll, Dimension::kExpert, 0.4 * plan_.unit_us * kCardBytes);
  }
  // Gathers the parameters of all layers below `until` that are not asked for.
  void GatherUntil(int until) {
    if (!layout_.sharded || is_gathered_) return;
    for (; gathers_ < std::min(until, plan_.layers); ++gathers_)
      gather_slots_.push_back(
          Launch(Exchange::kAllGather, Dimension::kData, 1.4 * plan_.unit_us * kCardBytes * CardsOf()));
  }
  void BeginGathers(bool is_gathered) {
    gathers_ = 0, gather_slots_.clear(), is_gathered_ = is_gathered;
    GatherUntil(1);
  }
  void WaitGathered(int layer) {
    GatherUntil(layer + 1);
    if (layout_.sharded && !is_gathered_) Add({.what = Do::kWait, .slot = gather_slots_[static_cast<size_t>(layer)]});
    GatherUntil(layer + 1 + plan_.gathers_ahead);
  }
  // Cards a host that a data group uses.
  double CardsOf() const {
    if (plan_.cards > 0) return plan_.cards;
    return std::min<double>(std::max(1, kGpusPerHost / layout_.tensor), std::max(1, layout_.data));
  }

  void ForwardLayer() {
    TensorExchange(true);
    Kernel(kNorm, 0.15, 1), Kernel(kGemm, 1.0, 1), Kernel(kAttention, 0.8, 2), Kernel(kGemm, 0.7, 1);
    TensorExchange(false);
    TensorExchange(true);
    Kernel(kNorm, 0.15, 1);
    if (layout_.expert > 1) {
      Kernel(kRouter, 0.1, 1);
      Tokens();
      Kernel(kExpertGemm, 1.0, 1, true), Kernel(kPointwise, 0.2, 1, true), Kernel(kExpertGemm, 1.0, 1, true);
      Tokens();
    } else {
      Kernel(kGemm, 1.2, 1), Kernel(kPointwise, 0.25, 1), Kernel(kGemm, 1.2, 1);
    }
    TensorExchange(false);
  }
  void BackwardLayer() {
    TensorExchange(true);
    if (layout_.expert > 1) {
      Tokens();
      Kernel(kExpertGemmBackward, 2.0, 1, true), Kernel(kPointwiseBackward, 0.3, 1, true);
      Kernel(kExpertGemmBackward, 2.0, 1, true);
      Tokens();
    } else {
      Kernel(kGemmBackward, 2.4, 1), Kernel(kPointwiseBackward, 0.35, 1), Kernel(kGemmBackward, 2.4, 1);
    }
    Kernel(kNormBackward, 0.3, 1);
    TensorExchange(false);
    TensorExchange(true);
    Kernel(kGemmBackward, 1.4, 1), Kernel(kAttentionBackward, 2.0, 2), Kernel(kGemmBackward, 2.0, 1);
    Kernel(kNormBackward, 0.3, 1);
    TensorExchange(false);
  }

  void Forward(int microbatch) {
    thread_ = 0, microbatch_ = microbatch;
    BeginGathers(false);
    if (!first()) AtOnce(Exchange::kReceive, Dimension::kPipeline, StageBytes(), -1);
    if (first()) Kernel(kEmbedding, 0.3, 1);
    for (int layer = 0; layer < plan_.layers; ++layer) {
      WaitGathered(layer);
      ForwardLayer();
    }
    if (!last()) Launch(Exchange::kSend, Dimension::kPipeline, StageBytes(), +1);
    if (last()) Kernel(kHead, 1.5 * HeadShare(), 1), Kernel(kLoss, 0.4 * HeadShare(), 1);
  }

  void Backward(int microbatch) {
    thread_ = 1, microbatch_ = microbatch;
    const bool exchanges = microbatch == layout_.microbatches - 1;
    BeginGathers(plan_.keeps_gathered);
    if (!last()) AtOnce(Exchange::kReceive, Dimension::kPipeline, StageBytes(), +1);
    if (last()) Kernel(kLossBackward, 0.5 * HeadShare(), 1), Kernel(kHeadBackward, 3.0 * HeadShare(), 1);
    int sent = 0;
    for (int layer = 0; layer < plan_.layers; ++layer) {
      WaitGathered(layer);
      BackwardLayer();
      const int due = plan_.buckets * (layer + 1) / plan_.layers;
      if (exchanges)
        for (; sent < due; ++sent) Bucket();
    }
    if (first()) Kernel(kEmbeddingBackward, 0.5, 1);
    if (!first()) Launch(Exchange::kSend, Dimension::kPipeline, StageBytes(), -1);
    thread_ = 0;
  }

  void Bucket() {
    if (layout_.data == 1) return;
    const double backward_us = 13 * plan_.unit_us * plan_.layers * layout_.microbatches;
    const double bytes = plan_.data_share * backward_us / plan_.buckets * kCardBytes * CardsOf() / 2;
    if (layout_.sharded) {
      Launch(Exchange::kReduceScatter, Dimension::kData, bytes);
    } else if (layout_.expert > 1) {
      Launch(Exchange::kAllReduce, Dimension::kData, bytes / 2);
      Launch(Exchange::kAllReduce, Dimension::kExpertData,
             bytes / 2 / CardsOf() * std::max(1, kGpusPerHost / layout_.expert));
    } else {
      Launch(Exchange::kAllReduce, Dimension::kData, bytes);
    }
  }

  const JobLayout layout_;
  const JobPlan plan_;
  const int stage_;
  std::vector<Instruction> program_{};
  uint8_t thread_ = 0;
  int microbatch_ = 0, slots_ = 0, next_slot_ = 0, gathers_ = 0;
  bool is_gathered_ = false;
  std::vector<int> gather_slots_{};  // by layer
};

}  // namespace

const WorkName& WorkNameOf(uint16_t place) { return kWorkNames[place]; }

JobPlan DrawnPlan(const Draws& draws, const JobLayout& layout) {
  JobPlan plan;
  plan.unit_us = draws.Between(250, 600, Draw::kPlan, 0);
  plan.operator_us = plan.unit_us * draws.Between(0.12, 0.3, Draw::kPlan, 1);
  plan.token_spread = draws.Between(0.02, 0.04, Draw::kPlan, 2);
  plan.layers = std::max(1, 6 / layout.microbatches);
  plan.buckets = layout.microbatches > 1 ? 2 : 4;
  plan.data_share = draws.Between(0.35, 0.7, Draw::kPlan, 3) / (layout.microbatches > 1 ? 2 : 1);
  plan.syncs = draws.Chance(0.75, Draw::kPlan, 4);
  return plan;
}

std::vector<Instruction> StepProgram(const JobLayout& layout, const JobPlan& plan, int stage) {
  return Writer(layout, plan, stage).Step();
}

}  // namespace gapless::internal::testing
