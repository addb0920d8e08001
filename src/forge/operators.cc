// SPDX-License-Identifier: Apache-2.0
// The table of operators. A function that overflows where its branch is not taken gets a harmless argument there: what
// is not taken has the gradient 0, and 0 times infinity is not a number.
#include "forge/operators.h"

#include <algorithm>

namespace gapless::internal {
namespace {

using enum ForgeKind;

constexpr ForgeOperator kOperators[] = {
    {"aten::add", "a b alpha=1", "a + alpha * b", "torch.add({a}, {b}, alpha={alpha})"},
    {"aten::sub", "a b alpha=1", "a - alpha * b", "torch.sub({a}, {b}, alpha={alpha})"},
    {"aten::rsub", "a b alpha=1", "b - alpha * a", "torch.rsub({a}, {b}, alpha={alpha})"},
    {"aten::mul", "a b", "a * b", "torch.mul({a}, {b})"},
    {"aten::div", "a b", "a / b", "torch.div({a}, {b})"},
    {"aten::neg", "a", "-a", "torch.neg({a})"},
    {"aten::abs", "a", "abs(a)", "torch.abs({a})"},
    {"aten::reciprocal", "a", "1 / a", "torch.reciprocal({a})"},
    {"aten::square", "a", "a * a", "torch.square({a})"},
    {"aten::pow", "a b", "pow(a, b)", "torch.pow({a}, {b})"},
    {"aten::sqrt", "a", "sqrt(a)", "torch.sqrt({a})"},
    {"aten::rsqrt", "a", "rsqrt(a)", "torch.rsqrt({a})"},
    {"aten::exp", "a", "exp(a)", "torch.exp({a})"},
    {"aten::exp2", "a", "exp(a * 0.6931471805599453)", "torch.exp2({a})"},
    {"aten::expm1", "a", "expm1(a)", "torch.expm1({a})"},
    {"aten::log", "a", "log(a)", "torch.log({a})"},
    {"aten::log2", "a", "log(a) * 1.4426950408889634", "torch.log2({a})"},
    {"aten::log10", "a", "log(a) * 0.4342944819032518", "torch.log10({a})"},
    {"aten::log1p", "a", "log1p(a)", "torch.log1p({a})"},
    {"aten::sin", "a", "sin(a)", "torch.sin({a})"},
    {"aten::cos", "a", "cos(a)", "torch.cos({a})"},
    {"aten::erf", "a", "erf(a)", "torch.erf({a})"},
    {"aten::erfc", "a", "1 - erf(a)", "torch.erfc({a})"},
    {"aten::tanh", "a", "tanh(a)", "torch.tanh({a})"},
    {"aten::sigmoid", "a", "sigmoid(a)", "torch.sigmoid({a})"},
    {"aten::relu", "a", "select(ge(0, a), 0, a)", "torch.relu({a})"},
    {"aten::clamp_min", "a low", "select(gt(low, a), low, a)", "torch.clamp_min({a}, {low})"},
    {"aten::clamp_max", "a high", "select(gt(a, high), high, a)", "torch.clamp_max({a}, {high})"},
    {"aten::threshold", "a low value", "select(gt(a, low), a, value)",
     "torch.nn.functional.threshold({a}, {low}, {value})"},
    {"aten::hardtanh", "a low=-1 high=1", "select(ge(low, a), low, select(ge(a, high), high, a))",
     "torch.nn.functional.hardtanh({a}, {low}, {high})"},
    {"aten::hardsigmoid", "a", "select(ge(-3, a), 0, select(ge(a, 3), 1, a / 6 + 0.5))",
     "torch.nn.functional.hardsigmoid({a})"},
    {"aten::hardswish", "a", "a * select(ge(-3, a), 0, select(ge(a, 3), 1, a / 6 + 0.5))",
     "torch.nn.functional.hardswish({a})"},
    {"aten::leaky_relu", "a slope=0.01", "select(gt(a, 0), a, slope * a)",
     "torch.nn.functional.leaky_relu({a}, {slope})"},
    {"aten::elu", "a alpha=1 scale=1 input_scale=1",
     "scale * select(gt(a, 0), a, alpha * expm1(input_scale * select(gt(a, 0), 0, a)))",
     "torch.ops.aten.elu({a}, {alpha}, {scale}, {input_scale})"},
    {"aten::softplus", "a beta=1 limit=20",
     "select(gt(a * beta, limit), a, log1p(exp(select(gt(a * beta, limit), 0, a * beta))) / beta)",
     "torch.nn.functional.softplus({a}, {beta}, {limit})"},
    {"aten::log_sigmoid_forward", "a", "select(gt(0, a), a, 0) - log1p(exp(-abs(a)))",
     "torch.nn.functional.logsigmoid({a})"},
    {"aten::silu", "a", "a * sigmoid(a)", "torch.nn.functional.silu({a})"},
    {"aten::mish", "a", "a * tanh(select(gt(a, 20), a, log1p(exp(select(gt(a, 20), 0, a)))))",
     "torch.nn.functional.mish({a})"},
    {"aten::gelu", "a", "0.5 * a * (1 + erf(a * 0.7071067811865476))", "torch.nn.functional.gelu({a})"},
    {"aten::gelu:tanh", "a", "0.5 * a * (1 + tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)))",
     "torch.nn.functional.gelu({a}, approximate=\"tanh\")"},
    {"aten::maximum", "a b", "select(gt(a, b), a, select(gt(b, a), b, 0.5 * (a + b)))", "torch.maximum({a}, {b})"},
    {"aten::minimum", "a b", "select(gt(b, a), a, select(gt(a, b), b, 0.5 * (a + b)))", "torch.minimum({a}, {b})"},
    {"aten::addcmul", "a b c value=1", "a + value * b * c", "torch.addcmul({a}, {b}, {c}, value={value})"},
    {"aten::addcdiv", "a b c value=1", "a + value * b / c", "torch.addcdiv({a}, {b}, {c}, value={value})"},
    {"aten::lerp", "a b c", "a + c * (b - a)", "torch.lerp({a}, {b}, {c})"},
    {"aten::where", "a b c", "select(a, b, c)", "torch.where({a}, {b}, {c})"},
    {"aten::masked_fill", "a b c", "select(b, c, a)", "{a}.masked_fill({b}, {c})"},
    {"aten::copy_", "- a", "a", "cast({a}, {type})", kCast},
    {"aten::sum", "a dims keep", "sum(a)", "torch.sum({a}, {dims}, keepdim={keep})", kReduction},
    {"aten::mean", "a dims keep", "sum(a) / cols", "torch.mean({a}, {dims}, keepdim={keep})", kReduction},
    {"aten::amax", "a dims keep", "rowmax(a)", "torch.amax({a}, {dims}, keepdim={keep})", kReduction},
    {"aten::amin", "a dims keep", "-rowmax(-a)", "torch.amin({a}, {dims}, keepdim={keep})", kReduction},
    {"aten::_softmax", "a dim", "exp(a - peak(a)) / sum(exp(a - peak(a)))", "torch.softmax({a}, -1)", kNormalisation},
    {"aten::_log_softmax", "a dim", "a - peak(a) - log(sum(exp(a - peak(a))))", "torch.log_softmax({a}, -1)",
     kNormalisation},
    {"aten::native_layer_norm", "a shape w?=1 bias?=0 eps=1e-5",
     "(a - sum(a) / cols) * rsqrt(sum((a - sum(a) / cols) * (a - sum(a) / cols)) / cols + eps) * w + bias",
     "torch.nn.functional.layer_norm({a}, {shape}, {w}, {bias}, {eps})", kNormalisation},
    {"aten::_fused_rms_norm", "a shape w?=1 eps=1e-6", "a * rsqrt(sum(a * a) / cols + eps) * w",
     "torch.nn.functional.rms_norm({a}, {shape}, {w}, {eps})", kNormalisation},
    {"aten::max_pool2d_with_indices", "a window step padding dilation ceil", "a",
     "torch.nn.functional.max_pool2d({a}, {window}, {step}, {padding}, {dilation}, {ceil})", kWindow},
};

struct Refused {
  std::string_view part, why;  // a part of the name
};
constexpr Refused kRefused[] = {
    {"batch_norm", "normalises over the batch and keeps running statistics, in two passes over the tensor"},
    {"group_norm", "normalises over groups of channels, which are no rows"},
    {"dropout", "draws random numbers, in a sequence that a kernel of its own would not repeat"},
    {"bernoulli", "draws random numbers, in a sequence that a kernel of its own would not repeat"},
    {"pool", "reads a window of elements for each result, and is not max_pool2d"},
    {"cat", "puts tensors of several sizes together"},
    {"_backward", "is the gradient of an operator: a kernel for the operator brings its own"},
    {"index", "reads elements at places that are only known when it runs"},
    {"embedding", "reads elements at places that are only known when it runs"},
    {"gather", "reads elements at places that are only known when it runs"},
    {"scatter", "writes elements at places that are only known when it runs"},
    {"_foreach", "works on a list of tensors, which PyTorch's fused optimisers do in one kernel"},
    {"cumsum", "needs all elements before each"},
    {"sort", "compares all elements of a row with each other"},
    {"topk", "compares all elements of a row with each other"},
};

}  // namespace

std::span<const ForgeOperator> AllForgeOperators() { return kOperators; }

const ForgeOperator* FindForgeOperator(std::string_view recorded, std::string_view approximate) {
  if (recorded == "aten::gelu" && approximate.find("tanh") != approximate.npos) recorded = "aten::gelu:tanh";
  if (recorded == "aten::max_pool2d") recorded = "aten::max_pool2d_with_indices";
  const auto* found = std::ranges::find(kOperators, recorded, &ForgeOperator::name);
  if (found == std::end(kOperators) && recorded.ends_with('_'))
    found = std::ranges::find(kOperators, recorded.substr(0, recorded.size() - 1), &ForgeOperator::name);
  return found != std::end(kOperators) ? found : nullptr;
}

std::string_view WhyNoForgeOperator(std::string_view recorded) {
  if (!recorded.starts_with("aten::")) return "is an operator of another library than PyTorch";
  for (const Refused& refused : kRefused)
    if (recorded.find(refused.part) != recorded.npos) return refused.why;
  return "is not in the table of operators that kernels are made of";
}

}  // namespace gapless::internal
