// SPDX-License-Identifier: Apache-2.0
// Maps operators by exact names, then by parts of names; kernels by their class.
#include "analyses/work_type.h"

#include <string>

#include "analyses/optimizer_updates.h"

namespace gapless::internal {
namespace {

struct NamePart {
  std::string_view part;  // lower case; the first that occurs decides
  WorkType type;
};
using enum WorkType;
constexpr NamePart kParts[] = {
    {"nccl", kCommunication},
    {"c10d::", kCommunication},
    {"all_reduce", kCommunication},
    {"param_comms", kCommunication},
    {"_foreach_", kOptimizer},
    {"_fused_adam", kOptimizer},
    {"_fused_sgd", kOptimizer},
    {"_fused_adagrad", kOptimizer},
    {"multi_tensor", kOptimizer},
    {"scaled_dot_product", kAttention},
    {"attention", kAttention},
    {"flash_attn", kAttention},
    {"fmha", kAttention},
    {"embedding", kEmbedding},
    {"embs", kEmbedding},
    {"index", kEmbedding},
    {"gather", kEmbedding},
    {"scatter", kEmbedding},
    {"permute_", kEmbedding},
    {"take", kEmbedding},
    {"convolution", kConv},
    {"conv1d", kConv},
    {"conv2d", kConv},
    {"conv3d", kConv},
    {"conv_depthwise", kConv},
    {"norm_", kNorm},
    {"_norm", kNorm},
    {"groupnorm", kNorm},
    {"rmsnorm", kNorm},
    {"layernorm", kNorm},
    {"pool", kPooling},
    {"upsample", kPooling},
    {"softmax", kReduction},
};

struct FullName {
  std::string_view name;  // without aten::
  WorkType type;
};
constexpr FullName kNames[] = {
    {"linalg_vector_norm", kReduction},
    {"norm", kReduction},
    {"mm", kMatmul},
    {"addmm", kMatmul},
    {"bmm", kMatmul},
    {"baddbmm", kMatmul},
    {"linear", kMatmul},
    {"matmul", kMatmul},
    {"mv", kMatmul},
    {"addmv", kMatmul},
    {"dot", kMatmul},
    {"_scaled_mm", kMatmul},
    {"_int_mm", kMatmul},
    {"_addmm_activation", kMatmul},
    {"_grouped_mm", kMatmul},
    {"relu", kActivation},
    {"relu_", kActivation},
    {"clamp_min_", kActivation},
    {"clamp_min", kActivation},
    {"threshold", kActivation},
    {"threshold_", kActivation},
    {"threshold_backward", kActivation},
    {"gelu", kActivation},
    {"gelu_backward", kActivation},
    {"silu", kActivation},
    {"silu_", kActivation},
    {"silu_backward", kActivation},
    {"sigmoid", kActivation},
    {"sigmoid_", kActivation},
    {"sigmoid_backward", kActivation},
    {"tanh", kActivation},
    {"tanh_", kActivation},
    {"tanh_backward", kActivation},
    {"leaky_relu", kActivation},
    {"leaky_relu_", kActivation},
    {"leaky_relu_backward", kActivation},
    {"elu", kActivation},
    {"elu_", kActivation},
    {"hardtanh", kActivation},
    {"hardtanh_", kActivation},
    {"hardswish", kActivation},
    {"hardswish_", kActivation},
    {"mish", kActivation},
    {"copy_", kCopy},
    {"cat", kCopy},
    {"clone", kCopy},
    {"contiguous", kCopy},
    {"_to_copy", kCopy},
    {"fill_", kCopy},
    {"zero_", kCopy},
    {"stack", kCopy},
    {"sum", kReduction},
    {"mean", kReduction},
    {"max", kReduction},
    {"min", kReduction},
    {"argmax", kReduction},
    {"argmin", kReduction},
    {"cumsum", kReduction},
    {"var", kReduction},
    {"std", kReduction},
    {"var_mean", kReduction},
    {"prod", kReduction},
    {"topk", kReduction},
    {"sort", kReduction},
    {"all", kReduction},
    {"any", kReduction},
    {"nll_loss_forward", kReduction},
    {"nll_loss_backward", kReduction},
    {"add", kPointwise},
    {"add_", kPointwise},
    {"sub", kPointwise},
    {"sub_", kPointwise},
    {"mul", kPointwise},
    {"mul_", kPointwise},
    {"div", kPointwise},
    {"div_", kPointwise},
    {"native_dropout", kPointwise},
    {"native_dropout_backward", kPointwise},
    {"where", kPointwise},
    {"masked_fill_", kPointwise},
};

}  // namespace

std::string_view ToString(WorkType type) {
  constexpr std::string_view kText[kWorkTypes] = {"conv",          "matmul",    "attention", "norm",      "activation",
                                                  "pointwise",     "reduction", "pooling",   "optimizer", "copy",
                                                  "communication", "embedding", "other"};
  return kText[static_cast<size_t>(type)];
}

WorkType WorkTypeOfOperator(std::string_view operator_name) {
  if (operator_name.starts_with("aten::"))
    for (const FullName& full : kNames)
      if (full.name == operator_name.substr(6)) return full.type;
  if (operator_name.starts_with("triton")) return kOther;  // names what was fused: its kernel's class is more precise
  for (const NamePart& name_part : kParts)
    if (operator_name.find(name_part.part) != operator_name.npos) return name_part.type;
  return kOther;
}

WorkType WorkTypeOfClass(GpuOpClass op_class) {
  switch (op_class) {
    case GpuOpClass::kGemm:
    case GpuOpClass::kGemv: return kMatmul;
    case GpuOpClass::kConv: return kConv;
    case GpuOpClass::kAttention: return kAttention;
    case GpuOpClass::kNorm: return kNorm;
    case GpuOpClass::kPointwise: return kPointwise;
    case GpuOpClass::kReduce: return kReduction;
    case GpuOpClass::kOptimizer: return kOptimizer;
    case GpuOpClass::kCommunication: return kCommunication;
    case GpuOpClass::kCopy: return kCopy;
    case GpuOpClass::kOther: break;
  }
  return kOther;
}

std::vector<uint8_t> InsideOptimizers(const Trace& trace) {
  std::vector<uint8_t> inside(trace.slices.size());
  const OptimizerUpdates updates(trace);
  for (uint32_t row = 0; row < inside.size() && !updates.all().empty(); ++row) inside[row] = updates.Holds(row) ? 1 : 0;
  return inside;
}

}  // namespace gapless::internal
