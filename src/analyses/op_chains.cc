// SPDX-License-Identifier: Apache-2.0
// Reads chains in one pass over the GPU operations, with a state per stream. A chain goes to the sink as soon as it
// ends.
#include "analyses/op_chains.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyses/shapes.h"
#include "analyses/surroundings.h"

namespace gapless::internal {
namespace {

enum class ChainPart : uint8_t { kLink, kCopy, kIgnored, kOther };

enum OpRole : uint8_t { kPlain, kCopyWork, kFills, kMatrixWork, kPoolWork, kUnseen };

OpRole RoleOf(std::string_view op) {
  if (op == "aten::copy_") return kCopyWork;
  if (op == "aten::fill_" || op == "aten::zero_") return kFills;
  if (op == "aten::max_pool2d_with_indices" || op == "aten::max_pool2d") return kPoolWork;
  for (const std::string_view product : {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear"})
    if (op == product) return kMatrixWork;
  return op.find("conv") != op.npos ? kMatrixWork : kPlain;
}

// The chain being read on one stream, and the kernels before it.
struct StreamState {
  int32_t device = 0;
  int64_t stream = 0;
  std::array<ChainLink, kMaxLinks> links{};
  size_t count = 0, copies_last = 0;  // links; of these, copies at the end so far
  int64_t elements = 0;
  GpuOpId before2, before;
  SliceId thread_of;  // a launch of the thread that the chain and the kernels before it belong to
  StepId step;
};

class ChainReader {
 public:
  ChainReader(const TraceTimeline& timeline, const std::vector<uint8_t>& around, ChainSink& sink, PoolLinks pools)
      : timeline_(timeline),
        trace_(timeline.trace()),
        sink_(sink),
        around_(around),
        pools_(pools),
        sizes_(trace_),
        compilers_(trace_.strings.size(), kUnseen),
        roles_(trace_.strings.size(), kUnseen) {}

  void Read() {
    const GpuOpTable& ops = trace_.gpu_ops;
    const RowRange rows = RowsWithin(ops.ts_ns, timeline_.window.span);
    for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
      if (ops.kind[row] == GpuOpKind::kMemset) continue;
      StreamState& state = StateOf(ops.device[row], ops.stream[row]);
      const SliceId launch = ops.launch[row];
      if (!SameThreadAndStep(state, launch, ops.step[row])) Restart(state, launch, ops.step[row]);
      const ChainPart part = PartOf(row);
      if (part == ChainPart::kIgnored || (part == ChainPart::kCopy && state.count == 0)) continue;
      if (part == ChainPart::kLink || part == ChainPart::kCopy)
        Append(state, row, part == ChainPart::kCopy);
      else
        End(state, GpuOpId(row));
    }
    for (StreamState& state : states_) End(state, GpuOpId());
  }

 private:
  StreamState& StateOf(int32_t device, int64_t stream) {
    if (last_ < states_.size() && states_[last_].device == device && states_[last_].stream == stream)
      return states_[last_];
    const auto [at, is_new] = by_stream_.try_emplace({device, stream}, states_.size());
    last_ = at->second;
    if (is_new) states_.emplace_back().device = device, states_[last_].stream = stream;
    return states_[last_];
  }

  bool SameThreadAndStep(const StreamState& state, SliceId launch, StepId step) const {
    if (!launch.valid() || !state.thread_of.valid()) return launch.valid() == state.thread_of.valid();
    return trace_.slices.thread[launch.value] == trace_.slices.thread[state.thread_of.value] && step == state.step;
  }

  void Restart(StreamState& state, SliceId launch, StepId step) {
    End(state, GpuOpId());
    state.before2 = state.before = GpuOpId();
    state.thread_of = launch, state.step = step;
  }

  bool ByCompiler(StringId kernel) {
    uint8_t& is = compilers_[static_cast<uint32_t>(kernel)];
    if (is == kUnseen) is = trace_.Text(kernel).starts_with("triton_") ? 1 : 0;
    return is != 0;
  }

  OpRole RoleOfOperator(StringId name) {
    uint8_t& role = roles_[static_cast<uint32_t>(name)];
    if (role == kUnseen) role = RoleOf(trace_.Text(name));
    return static_cast<OpRole>(role);
  }

  ChainPart PartOf(uint32_t row) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const GpuOpClass kind = ops.op_class[row];
    const SliceId op = ops.op[row];
    if (ops.kind[row] != GpuOpKind::kKernel || !op.valid() || ops.graph_id[row] != kAbsent) return ChainPart::kOther;
    const OpRole role = RoleOfOperator(trace_.slices.name[op.value]);
    const bool one_pass = kind == GpuOpClass::kPointwise || kind == GpuOpClass::kReduce || kind == GpuOpClass::kNorm ||
                          (role == kPoolWork && pools_ == PoolLinks::kYes);
    if (role == kMatrixWork || (!one_pass && role != kCopyWork)) return ChainPart::kOther;
    if ((around_[op.value] & (kInOptimizer | kInAccumulateGrad | kInCompiled)) != 0) return ChainPart::kOther;
    if (ByCompiler(ops.name[row])) return ChainPart::kOther;
    if (role == kFills || IsSmall(row)) return ChainPart::kIgnored;
    return role == kCopyWork ? ChainPart::kCopy : ChainPart::kLink;
  }

  // A counter or another scalar: one block, or tensors of one element.
  bool IsSmall(uint32_t row) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const bool one_block = ops.grid_x[row] == 1 && ops.grid_y[row] == 1 && ops.grid_z[row] == 1;
    return one_block || sizes_.Of(ops.op[row]).elements == 1;
  }

  static bool Fits(int64_t a, int64_t b) { return a == 0 || b == 0 || std::max(a, b) % std::min(a, b) == 0; }

  void Append(StreamState& state, uint32_t row, bool is_copy) {
    const GpuOpTable& ops = trace_.gpu_ops;
    const SliceId op = ops.op[row];
    if (state.count > 0 && state.links[state.count - 1].op == op) {
      ChainLink& link = state.links[state.count - 1];
      ++link.kernels, link.dur_ns += ops.dur_ns[row];
      return;
    }
    const TensorSize& size = sizes_.Of(op);
    const bool fits = state.count < kMaxLinks && Fits(size.elements, state.elements);
    if (!fits && is_copy) return;
    if (!fits) End(state, GpuOpId());
    state.links[state.count++] = {op, trace_.slices.name[op.value], row, 1, ops.dur_ns[row], size.bytes};
    state.copies_last = is_copy ? state.copies_last + 1 : 0;
    state.elements = std::max(state.elements, size.elements);
  }

  void End(StreamState& state, GpuOpId after) {
    state.count -= state.copies_last;  // a copy belongs to a chain when it goes on after it
    if (state.count > 0) {
      const std::span<const ChainLink> links(state.links.data(), state.count);
      sink_.Chain({links, state.before2, state.before, after, state.device, state.elements});
      state.before2 = GpuOpId(), state.before = GpuOpId(links.back().first);
    }
    if (after.valid()) state.before2 = state.before, state.before = after;
    state.count = 0, state.copies_last = 0, state.elements = 0;
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  ChainSink& sink_;
  const std::vector<uint8_t>& around_;
  const PoolLinks pools_;
  TensorSizes sizes_;
  std::vector<uint8_t> compilers_;  // by kernel name
  std::vector<uint8_t> roles_;      // by operator name
  std::vector<StreamState> states_;
  std::map<std::pair<int32_t, int64_t>, size_t> by_stream_;  // into states_, by device and stream
  size_t last_ = 0;
};

}  // namespace

void FindChains(const TraceTimeline& timeline, const std::vector<uint8_t>& around, ChainSink& sink, PoolLinks pools) {
  ChainReader(timeline, around, sink, pools).Read();
}

bool AttentionNames::IsProduct(const Trace& trace, GpuOpId kernel) const {
  if (!kernel.valid() || trace.gpu_ops.op_class[kernel.value] != GpuOpClass::kGemm) return false;
  const SliceId op = trace.gpu_ops.op[kernel.value];
  if (!op.valid()) return false;
  const StringId name = trace.slices.name[op.value];
  return name == bmm || name == baddbmm;
}

AttentionPart AttentionNames::PartOf(const Trace& trace, const OpChain& chain) const {
  if (!IsProduct(trace, chain.before) || !IsProduct(trace, chain.after)) return AttentionPart::kNone;
  for (const ChainLink& link : chain.links) {
    if (link.name == StringId::kNone) continue;
    if (link.name == softmax) return AttentionPart::kForward;
    if (link.name == softmax_backward) return AttentionPart::kBackward;
  }
  return AttentionPart::kNone;
}

}  // namespace gapless::internal
