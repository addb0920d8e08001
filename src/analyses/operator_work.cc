// SPDX-License-Identifier: Apache-2.0
// One line per operator (kFormulas) names where its operands stand. Against others: TraceLens has the same products,
// adds the bias, and counts the repeated product of attention's backward pass only in one figure; it halves the square
// where a causal mask leaves a triangle with its diagonal. torch.utils.flop_counter counts causal attention in full.
#include "analyses/operator_work.h"

#include <iterator>
#include <unordered_map>

#include "analyses/operator_work/formulas.h"

namespace gapless::internal {
namespace {

using enum WorkKind;
using work::Attend;
using work::Convolve;
using work::ConvolveBackward;
using work::ConvolveBackwardInput;
using work::ConvolveBackwardWeight;
using work::Copy;
using work::kAlways;
using work::PerElement;
using work::Pointwise;
using work::Product;

constexpr WorkFormula kFormulas[] = {
    {"aten::mm", kGemm, Product, {0, 1, -1}},
    {"aten::addmm", kGemm, Product, {1, 2, 0}},
    {"aten::addmm_", kGemm, Product, {1, 2, 0}},
    {"aten::_addmm_activation", kGemm, Product, {1, 2, 0}},
    {"aten::bmm", kGemm, Product, {0, 1, -1}},
    {"aten::baddbmm", kGemm, Product, {1, 2, 0}},
    {"aten::baddbmm_", kGemm, Product, {1, 2, 0}},
    {"aten::matmul", kGemm, Product, {0, 1, -1}},
    {"aten::linear", kGemm, Product, {0, 1, 2, 1}},
    {"aten::mv", kGemm, Product, {0, 1, -1}},
    {"aten::addmv", kGemm, Product, {1, 2, 0}},
    {"aten::addmv_", kGemm, Product, {1, 2, 0}},
    {"aten::_scaled_mm", kGemm, Product, {0, 1, -1}},
    {"aten::_int_mm", kGemm, Product, {0, 1, -1}},
    {"aten::cudnn_convolution", kConv, Convolve, {3, 2, 4}},
    {"aten::cudnn_convolution_relu", kConv, Convolve, {3, 4, 5}},
    {"aten::cudnn_convolution_add_relu", kConv, Convolve, {5, 6, 7}},
    {"aten::cudnn_convolution_transpose", kConv, Convolve, {4, 2, 5, kAlways}},
    {"aten::miopen_convolution", kConv, Convolve, {4, 3, 5}},
    {"aten::miopen_depthwise_convolution", kConv, Convolve, {4, 3, 5}},
    {"aten::miopen_convolution_transpose", kConv, Convolve, {5, 3, 6, kAlways}},
    {"aten::conv1d", kConv, Convolve, {3, 4, 5}},
    {"aten::conv2d", kConv, Convolve, {3, 4, 5}},
    {"aten::conv3d", kConv, Convolve, {3, 4, 5}},
    {"aten::convolution", kConv, Convolve, {3, 4, 5, 6}},
    {"aten::_convolution", kConv, Convolve, {3, 4, 5, 6}},
    {"aten::_slow_conv2d_forward", kConv, Convolve, {4, 5, -1}},
    {"aten::thnn_conv2d", kConv, Convolve, {4, 5, -1}},
    {"aten::_conv_depthwise2d", kConv, Convolve, {4, 5, 6}},
    {"aten::conv_depthwise3d", kConv, Convolve, {4, 5, 6}},
    {"aten::convolution_backward", kConv, ConvolveBackward, {}},
    {"aten::cudnn_convolution_backward_input", kConv, ConvolveBackwardInput, {}},
    {"aten::cudnn_convolution_backward_weight", kConv, ConvolveBackwardWeight, {}, 0, kConvolutionGradient},
    {"aten::_flash_attention_forward", kAttention, Attend, {0, 8, 0, 0, 3}},
    {"aten::_flash_attention_backward", kAttention, Attend, {1, 11, 0, 1, 6}},
    {"flash_attn::_flash_attn_forward", kAttention, Attend, {0, 5, 0, 0, -1}},
    {"flash_attn::_flash_attn_backward", kAttention, Attend, {1, 11, 0, 1, -1}},
    {"aten::_efficient_attention_forward", kAttention, Attend, {0, 9, 0, 0, 4}},
    {"aten::_efficient_attention_backward", kAttention, Attend, {1, 14, 0, 1, 6}},
    {"aten::_scaled_dot_product_flash_attention", kAttention, Attend, {0, 4, 1, 0, -1}},
    {"aten::_scaled_dot_product_flash_attention_backward", kAttention, Attend, {1, 11, 1, 1, -1}},
    {"aten::_scaled_dot_product_efficient_attention", kAttention, Attend, {0, 6, 1, 0, -1}},
    {"aten::_scaled_dot_product_efficient_attention_backward", kAttention, Attend, {1, 11, 1, 1, -1}},
    {"aten::_scaled_dot_product_cudnn_attention", kAttention, Attend, {0, 6, 1, 0, -1}},
    {"aten::_scaled_dot_product_cudnn_attention_backward", kAttention, Attend, {1, 14, 1, 1, -1}},
    {"aten::_cudnn_attention_forward", kAttention, Attend, {0, 10, 1, 0, 4}},
    {"aten::native_layer_norm", kNorm, PerElement, {0, 2}, 8},
    {"aten::native_layer_norm_backward", kNorm, PerElement, {0, 3}, 11},
    {"aten::native_batch_norm", kNorm, PerElement, {0, 2}, 8},
    {"aten::native_batch_norm_backward", kNorm, PerElement, {0, 3}, 11},
    {"aten::cudnn_batch_norm", kNorm, PerElement, {0, 2}, 8},
    {"aten::cudnn_batch_norm_backward", kNorm, PerElement, {0, 3}, 11},
    {"aten::miopen_batch_norm", kNorm, PerElement, {0, 2}, 8},
    {"aten::miopen_batch_norm_backward", kNorm, PerElement, {0, 3}, 11},
    {"aten::native_group_norm", kNorm, PerElement, {0, 2}, 8},
    {"aten::native_group_norm_backward", kNorm, PerElement, {0, 3}, 11},
    {"aten::_fused_rms_norm", kNorm, PerElement, {0, 2}, 4},
    {"aten::_fused_rms_norm_backward", kNorm, PerElement, {0, 3}, 8},
    {"aten::_softmax", kSoftmax, PerElement, {0, 2}, 5},
    {"aten::_softmax_backward_data", kSoftmax, PerElement, {0, 3}, 4},
    {"aten::_log_softmax", kSoftmax, PerElement, {0, 2}, 5},
    {"aten::_log_softmax_backward_data", kSoftmax, PerElement, {0, 3}, 4},
    {"aten::copy_", kPointwise, Copy, {}},
    {"aten::gelu", kPointwise, Pointwise, {2}, 8},
    {"aten::gelu_backward", kPointwise, Pointwise, {3}, 12},
    {"aten::addcmul", kPointwise, Pointwise, {4}, 3},
    {"aten::addcmul_", kPointwise, Pointwise, {4}, 3},
    {"aten::addcdiv", kPointwise, Pointwise, {4}, 3},
    {"aten::addcdiv_", kPointwise, Pointwise, {4}, 3},
};

// One operation per element, by how many inputs they take; in place the name ends in "_".
constexpr std::string_view kPlainPointwise[][16] = {
    {"relu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "neg", "abs", "silu", "sin", "cos"},
    {"mul", "div", "clamp_min", "pow", "maximum", "minimum", "silu_backward", "sigmoid_backward", "tanh_backward",
     "leaky_relu"},
    {"add", "sub", "clamp", "where", "threshold", "threshold_backward", "lerp"},
    {"leaky_relu_backward", "elu"}};
constexpr WorkFormula kPlainFormulas[] = {{"", kPointwise, Pointwise, {1}, 1},
                                          {"", kPointwise, Pointwise, {2}, 1},
                                          {"", kPointwise, Pointwise, {3}, 1},
                                          {"", kPointwise, Pointwise, {4}, 1}};

const WorkFormula* FindPlainPointwise(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  for (size_t arity = 0; arity < std::size(kPlainPointwise); ++arity)
    for (const std::string_view plain : kPlainPointwise[arity])
      if (!plain.empty() && plain == name) return &kPlainFormulas[arity];
  return nullptr;
}

}  // namespace

std::string_view ToString(WorkKind kind) {
  constexpr std::string_view kNames[] = {"gemm", "conv", "attention", "norm", "softmax", "pointwise"};
  return kNames[static_cast<size_t>(kind)];
}

Work WorkOfConvolution(std::span<const Input> gradient_inputs) { return ConvolveBackwardWeight({}, gradient_inputs); }

const WorkFormula* FindWorkFormula(std::string_view operator_name) {
  static const std::unordered_map<std::string_view, const WorkFormula*> kByName = [] {
    std::unordered_map<std::string_view, const WorkFormula*> by_name;
    for (const WorkFormula& formula : kFormulas) by_name.emplace(formula.name, &formula);
    return by_name;
  }();
  if (const auto found = kByName.find(operator_name); found != kByName.end()) return found->second;
  if (!operator_name.starts_with("aten::")) return nullptr;
  return FindPlainPointwise(operator_name.substr(6));
}

double PeakTflops(const DevicePeaks& peaks, WorkKind kind, ElementType type, MatrixUnit unit) {
  const bool amd = peaks.vendor == "amd";
  if (!IsMatrixWork(kind)) return type == ElementType::kFp64 ? peaks.fp64 : peaks.fp32;
  switch (type) {
    // AMD's matrix cores take fp32 and fp64 as they are; whether a product uses them, its peak is at least theirs.
    case ElementType::kFp64: return unit == MatrixUnit::kNo ? peaks.fp64 : peaks.fp64_matrix;
    case ElementType::kFp32:
      if (unit == MatrixUnit::kNo || (!amd && !(peaks.tf32 > 0))) return peaks.fp32;
      if (unit == MatrixUnit::kUnknown) return DevicePeaks::kNone;
      return amd ? peaks.fp32_matrix : peaks.tf32;
    case ElementType::kFp16: return unit == MatrixUnit::kNo ? DevicePeaks::kNone : peaks.fp16;
    case ElementType::kBf16: return unit == MatrixUnit::kNo ? DevicePeaks::kNone : peaks.bf16;
    case ElementType::kFp8: return unit == MatrixUnit::kNo ? DevicePeaks::kNone : peaks.fp8;
    default: return DevicePeaks::kNone;
  }
}

}  // namespace gapless::internal
