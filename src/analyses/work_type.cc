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
constexpr NamePart kParts[] = {
    {"nccl", WorkType::kCommunication},
    {"c10d::", WorkType::kCommunication},
    {"all_reduce", WorkType::kCommunication},
    {"param_comms", WorkType::kCommunication},
    {"_foreach_", WorkType::kOptimizer},
    {"_fused_adam", WorkType::kOptimizer},
    {"_fused_sgd", WorkType::kOptimizer},
    {"_fused_adagrad", WorkType::kOptimizer},
    {"multi_tensor", WorkType::kOptimizer},
    {"scaled_dot_product", WorkType::kAttention},
    {"attention", WorkType::kAttention},
    {"flash_attn", WorkType::kAttention},
    {"fmha", WorkType::kAttention},
    {"embedding", WorkType::kEmbedding},
    {"embs", WorkType::kEmbedding},
    {"index", WorkType::kEmbedding},
    {"gather", WorkType::kEmbedding},
    {"scatter", WorkType::kEmbedding},
    {"permute_", WorkType::kEmbedding},
    {"take", WorkType::kEmbedding},
    {"convolution", WorkType::kConv},
    {"conv1d", WorkType::kConv},
    {"conv2d", WorkType::kConv},
    {"conv3d", WorkType::kConv},
    {"conv_depthwise", WorkType::kConv},
    {"norm_", WorkType::kNorm},
    {"_norm", WorkType::kNorm},
    {"groupnorm", WorkType::kNorm},
    {"rmsnorm", WorkType::kNorm},
    {"layernorm", WorkType::kNorm},
    {"pool", WorkType::kPooling},
    {"upsample", WorkType::kPooling},
    {"softmax", WorkType::kReduction},
};

struct FullName {
  std::string_view name;  // without aten::
  WorkType type;
};
constexpr FullName kNames[] = {
    {"linalg_vector_norm", WorkType::kReduction},
    {"norm", WorkType::kReduction},
    {"mm", WorkType::kMatmul},
    {"addmm", WorkType::kMatmul},
    {"bmm", WorkType::kMatmul},
    {"baddbmm", WorkType::kMatmul},
    {"linear", WorkType::kMatmul},
    {"matmul", WorkType::kMatmul},
    {"mv", WorkType::kMatmul},
    {"addmv", WorkType::kMatmul},
    {"dot", WorkType::kMatmul},
    {"_scaled_mm", WorkType::kMatmul},
    {"_int_mm", WorkType::kMatmul},
    {"_addmm_activation", WorkType::kMatmul},
    {"_grouped_mm", WorkType::kMatmul},
    {"relu", WorkType::kActivation},
    {"relu_", WorkType::kActivation},
    {"clamp_min_", WorkType::kActivation},
    {"clamp_min", WorkType::kActivation},
    {"threshold", WorkType::kActivation},
    {"threshold_", WorkType::kActivation},
    {"threshold_backward", WorkType::kActivation},
    {"gelu", WorkType::kActivation},
    {"gelu_backward", WorkType::kActivation},
    {"silu", WorkType::kActivation},
    {"silu_", WorkType::kActivation},
    {"silu_backward", WorkType::kActivation},
    {"sigmoid", WorkType::kActivation},
    {"sigmoid_", WorkType::kActivation},
    {"sigmoid_backward", WorkType::kActivation},
    {"tanh", WorkType::kActivation},
    {"tanh_", WorkType::kActivation},
    {"tanh_backward", WorkType::kActivation},
    {"leaky_relu", WorkType::kActivation},
    {"leaky_relu_", WorkType::kActivation},
    {"leaky_relu_backward", WorkType::kActivation},
    {"elu", WorkType::kActivation},
    {"elu_", WorkType::kActivation},
    {"hardtanh", WorkType::kActivation},
    {"hardtanh_", WorkType::kActivation},
    {"hardswish", WorkType::kActivation},
    {"hardswish_", WorkType::kActivation},
    {"mish", WorkType::kActivation},
    {"copy_", WorkType::kCopy},
    {"cat", WorkType::kCopy},
    {"clone", WorkType::kCopy},
    {"contiguous", WorkType::kCopy},
    {"_to_copy", WorkType::kCopy},
    {"fill_", WorkType::kCopy},
    {"zero_", WorkType::kCopy},
    {"stack", WorkType::kCopy},
    {"sum", WorkType::kReduction},
    {"mean", WorkType::kReduction},
    {"max", WorkType::kReduction},
    {"min", WorkType::kReduction},
    {"argmax", WorkType::kReduction},
    {"argmin", WorkType::kReduction},
    {"cumsum", WorkType::kReduction},
    {"var", WorkType::kReduction},
    {"std", WorkType::kReduction},
    {"var_mean", WorkType::kReduction},
    {"prod", WorkType::kReduction},
    {"topk", WorkType::kReduction},
    {"sort", WorkType::kReduction},
    {"all", WorkType::kReduction},
    {"any", WorkType::kReduction},
    {"nll_loss_forward", WorkType::kReduction},
    {"nll_loss_backward", WorkType::kReduction},
    {"add", WorkType::kPointwise},
    {"add_", WorkType::kPointwise},
    {"sub", WorkType::kPointwise},
    {"sub_", WorkType::kPointwise},
    {"mul", WorkType::kPointwise},
    {"mul_", WorkType::kPointwise},
    {"div", WorkType::kPointwise},
    {"div_", WorkType::kPointwise},
    {"native_dropout", WorkType::kPointwise},
    {"native_dropout_backward", WorkType::kPointwise},
    {"where", WorkType::kPointwise},
    {"masked_fill_", WorkType::kPointwise},
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
  if (operator_name.starts_with("triton"))
    return WorkType::kOther;  // names what was fused: its kernel's class is more precise
  for (const NamePart& name_part : kParts)
    if (operator_name.find(name_part.part) != operator_name.npos) return name_part.type;
  return WorkType::kOther;
}

WorkType WorkTypeOfClass(GpuOpClass op_class) {
  switch (op_class) {
    case GpuOpClass::kGemm:
    case GpuOpClass::kGemv: return WorkType::kMatmul;
    case GpuOpClass::kConv: return WorkType::kConv;
    case GpuOpClass::kAttention: return WorkType::kAttention;
    case GpuOpClass::kNorm: return WorkType::kNorm;
    case GpuOpClass::kPointwise: return WorkType::kPointwise;
    case GpuOpClass::kReduce: return WorkType::kReduction;
    case GpuOpClass::kOptimizer: return WorkType::kOptimizer;
    case GpuOpClass::kCommunication: return WorkType::kCommunication;
    case GpuOpClass::kCopy: return WorkType::kCopy;
    case GpuOpClass::kOther: break;
  }
  return WorkType::kOther;
}

std::vector<uint8_t> InsideOptimizers(const Trace& trace) {
  std::vector<uint8_t> inside(trace.slices.size());
  const OptimizerUpdates updates(trace);
  for (uint32_t row = 0; row < inside.size() && !updates.all().empty(); ++row) inside[row] = updates.Holds(row) ? 1 : 0;
  return inside;
}

}  // namespace gapless::internal
