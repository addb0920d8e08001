// SPDX-License-Identifier: Apache-2.0
// torch.compile: chains of small kernels are fused, and the host launches less.
//
// Fusion leaves matrix work as it is and takes memory traffic and launches from the rest. Over 163 models on an A100 a
// step became 1.43 times as fast in the mean, from 0.7 to 2 and more (PyTorch 2.0 release); the cautious case gains
// nothing.
//
// Where the host itself computes, the same holds for its operators: products and convolutions stay, long pointwise work
// and the cost of short operators get less, and so does Python between them: 28 and 36 % of the step were left of a
// chain of pointwise operators and of a small network, 98 % of large products (bench/results/advice.csv).
#include "analyses/work_type.h"
#include "predict/program.h"
#include "predict/what_if.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

bool IsCompiledAlready(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  size_t compiled = 0, kernels = 0;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    kernels += ops.kind[op] == GpuOpKind::kKernel ? 1 : 0;
    compiled += trace.Text(ops.name[op]).starts_with("triton_") ? 1 : 0;
  }
  return 10 * compiled > kernels;
}

// By name of the host's operators: is it work that stays as it is?
std::vector<uint8_t> MatrixNames(const Trace& trace) {
  std::vector<uint8_t> matrix(trace.strings.size());
  for (size_t id = 0; id < matrix.size(); ++id) {
    const WorkType type = WorkTypeOfOperator(trace.strings[static_cast<StringId>(id)]);
    matrix[id] = type == WorkType::kConv || type == WorkType::kMatmul || type == WorkType::kAttention ? 1 : 0;
  }
  return matrix;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Case which, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  WhatIfEffect effect;
  if (IsCompiledAlready(trace)) {
    effect.nothing = "compiled kernels are in it already";
    return effect;
  }
  times.ScaleOps([&](uint32_t op) {
    const GpuOpClass one = ops.op_class[op];
    const bool fuses = one == GpuOpClass::kPointwise || one == GpuOpClass::kNorm || one == GpuOpClass::kReduce;
    return fuses ? Pick(which, 1.0, 0.55, 0.35) : 1.0;
  });
  const bool computes = ops.size() == 0;  // the host itself
  const std::vector<uint8_t> matrix = computes ? MatrixNames(trace) : std::vector<uint8_t>();
  const std::vector<uint8_t> loading = LoadingSlices(trace), updating = InsideOptimizers(trace);
  times.ScaleHost([&](uint32_t slice) {
    if (slice == kNoRowValue || loading[slice] != 0 || updating[slice] != 0) return 1.0;
    if (trace.slices.category[slice] == SliceCategory::kAnnotation)
      return computes ? Pick(which, 0.8, 0.35, 0.15) : 1.0;
    if (computes && matrix[static_cast<uint32_t>(trace.slices.name[slice])] != 0) return 1.0;
    return computes ? Pick(which, 0.8, 0.35, 0.15) : Pick(which, 1.0, 0.6, 0.35);
  });
  effect.assumptions.emplace_back("the model compiles without graph breaks, and shapes do not change");
  return effect;
}

}  // namespace

WHATIF(compile) = {
    .name = "compile",
    .help = "torch.compile: small kernels fused, the host launches less",
    .why =
        "Pointwise, norm and reduction kernels take 55 % of their time (35 to 100 %), the host's calls of "
        "operators 60 % (35 to 100 %); products, convolutions, attention, the loader and the optimiser "
        "stay. Over 163 models on an A100 a step became 1.43 times as fast in the mean, from 0.7 to 2 "
        "and more (PyTorch 2.0 release). Where the host itself computes, its operators take 35 % (15 to 80 %), "
        "products and convolutions apart.",
    .safety = Safety::kRounding,
    .apply = Apply};

}  // namespace gapless::internal
