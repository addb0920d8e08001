// SPDX-License-Identifier: Apache-2.0
// torch.compile: chains of small kernels are fused, and the host launches less.
//
// Model. Fusion leaves matrix work, and the operators that call libraries for it, as they are, and takes memory
// traffic, launches and the Python between them from the rest; the optimiser is not compiled. Over 163 models on an
// A100 a step became 1.43 times as fast in the mean, from 0.7 to 2 and more (PyTorch 2.0 release); the cautious case
// gains nothing.
//
// On a host that computes itself, products, convolutions and pooling stay. Others that follow each other without one of
// these between share their passes over memory: of k of them 1/k of the time is left at best, all of it at worst, and
// the geometric mean of both is expected, 1/sqrt(k), but not below 35 %, as they still compute. Short operators are
// mostly their call, and these and the Python between them go. 28 and 36 % of the step were left of a chain of
// pointwise operators and of a small network, 98 % of large products (bench/results/advice.csv), 92 % of SqueezeNet and
// 87 % of a small network of convolutions, whose groups are a norm and an activation. Long stretches of Python are no
// part of a model, nor are collectives, nor what the program's own autograd functions do.
//
// Trial. The model is compiled in place. Modes with CUDA graphs are proposed only on a GPU, and the search for kernels,
// which takes longest, only with the whole grid.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analyses/work_type.h"
#include "fixes/names.h"
#include "predict/fix.h"
#include "predict/fixes/common/launching.h"
#include "predict/fixes/common/passes.h"
#include "predict/fixes/common/values.h"
#include "predict/program.h"

namespace gapless::internal::compile_fix {
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

constexpr std::string_view kMatrixNodes[] = {
    "mmBackward", "MmBackward", "ConvolutionBackward", "LinearBackward", "AttentionBackward", "_rnn_",
    "lstm",       "gru",        "RnnLayerBackward"};
constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";
constexpr int64_t kMaxBetweenNs = 500'000;    // Python between two operators of a model takes less
constexpr int64_t kShortOperatorNs = 20'000;  // an operator that takes less is mostly its call
// The part of their time that is left of short operators, and at least of many in a row, which still compute.
constexpr double kUsualLeft = 0.35, kLeastLeft = 0.15;

// A node of the graph of autograd by an operator of PyTorch is "MulBackward0"; by the program's own function
// "MyBackward".
bool IsOwnFunction(std::string_view name) { return name.ends_with("Backward"); }

// Returns, for each name of the host's operators, 1 if it is work that stays as it is.
std::vector<uint8_t> NamesThatStay(const Trace& trace) {
  std::vector<uint8_t> stays(trace.strings.size());
  for (size_t id = 0; id < stays.size(); ++id) {
    std::string_view name = trace.strings[static_cast<StringId>(id)];
    if (name.starts_with(kNode)) name.remove_prefix(kNode.size());
    const WorkType type = WorkTypeOfOperator(name);
    const bool is_matrix =
        type == WorkType::kConv || type == WorkType::kMatmul || type == WorkType::kAttention ||
        std::ranges::any_of(kMatrixNodes, [&](std::string_view node) { return name.find(node) != name.npos; });
    const bool is_other = type == WorkType::kCommunication || type == WorkType::kPooling || IsOwnFunction(name);
    stays[id] = is_matrix || is_other ? 1 : 0;
  }
  return stays;
}

// Returns for each slice the number of long operators, it among them, that follow each other on its thread without one
// that stays between; 0 for what is in no such group. What is inside an operator belongs to its group.
std::vector<uint32_t> FusedTogether(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const std::vector<uint8_t> names = NamesThatStay(trace), work = OwnWork(trace), updating = InsideOptimizers(trace);
  std::vector<uint32_t> group_of(slices.size(), 0), sizes = {0};  // group 0: none
  std::vector<uint32_t> open(trace.threads.size(), 0);            // by thread: the group that may go on
  std::vector<uint8_t> stays(slices.size(), 0);
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const SliceId parent = slices.parent[row];
    uint32_t& group = open[slices.thread[row].value];
    // Python frames are named after modules and say nothing of the work below them.
    stays[row] = (work[row] & names[static_cast<uint32_t>(slices.name[row])]) | updating[row];
    if (parent.valid() && (stays[parent.value] != 0 || group_of[parent.value] != 0)) {
      stays[row] |= stays[parent.value];
      group_of[row] = stays[row] != 0 ? 0 : group_of[parent.value];
      continue;
    }
    if (stays[row] != 0) group = 0;
    if (work[row] == 0 || stays[row] != 0 || slices.dur_ns[row] < kShortOperatorNs) continue;
    if (group == 0) group = static_cast<uint32_t>(sizes.size()), sizes.push_back(0);
    group_of[row] = group;
    ++sizes[group];
  }
  for (uint32_t& group : group_of) group = sizes[group];
  return group_of;
}

bool Fuses(GpuOpClass gpu_op_class) {
  return gpu_op_class == GpuOpClass::kPointwise || gpu_op_class == GpuOpClass::kNorm ||
         gpu_op_class == GpuOpClass::kReduce;
}

// Returns the effect on a recording in which the host computes.
void CompileHost(const WhatIfInput& input, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const std::vector<uint8_t>&names = input.Once(NamesThatStay), &loading = input.Once(LoadingSlices),
        &updating = input.Once(InsideOptimizers);
  const std::vector<uint32_t>& together = input.Once(FusedTogether);
  times.LimitHost([&](const Edge& edge, int64_t ns) {
    if (edge.owner == kNoRowValue || loading[edge.owner] != 0 || updating[edge.owner] != 0) return 1.0;
    const bool is_python = !IsOwnWork(trace, edge.owner) && ns > kMaxBetweenNs;
    if (is_python || names[static_cast<uint32_t>(trace.slices.name[edge.owner])] != 0) return 1.0;
    if (together[edge.owner] == 0) return ValueFor(estimate, 1.0, kUsualLeft, kLeastLeft);
    const double fused = 1.0 / together[edge.owner];
    return ValueFor(estimate, 1.0, std::max(std::sqrt(fused), kUsualLeft), std::max(fused, kLeastLeft));
  });
}

// Returns the effect on a recording in which the host launches: operators that call libraries keep their cost.
void CompileLaunches(const WhatIfInput& input, Estimate estimate, EdgeTimes& times) {
  const HostParts& parts = input.Once(FindHostParts);
  const std::vector<uint8_t>& updating = input.Once(InsideOptimizers);
  times.LimitHost([&](const Edge& edge, int64_t ns) {
    const bool stays = edge.owner != kNoRowValue && (updating[edge.owner] != 0 || parts.LaunchesLibraries(edge.owner));
    const HostPart part = parts.Of(edge, ns);
    if (part == HostPart::kOther || (stays && part == HostPart::kLaunching)) return 1.0;
    return ValueFor(estimate, 1.0, 0.5, 0.3);
  });
}

// Why there is no use in compiling; empty: there is.
std::string NothingToCompile(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  if (IsCompiledAlready(trace)) return "compiled kernels are in it already";
  const bool fuses = std::any_of(ops.op_class.begin(), ops.op_class.end(), Fuses);
  if (ops.size() > 0 && !fuses)
    return "there is nothing to fuse: products, convolutions, attention and copies stay as they are";
  return {};
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  WhatIfEffect effect;
  effect.no_effect = input.Once(NothingToCompile);
  if (!effect.no_effect.empty()) return effect;
  const Passes& passes = input.Once(FindPasses);
  times.ScaleOps([&](uint32_t op) {
    return Fuses(ops.op_class[op]) && passes.of_op[op] != Pass::kOptimizer ? ValueFor(estimate, 1.0, 0.55, 0.35) : 1.0;
  });
  if (ops.size() == 0)
    CompileHost(input, estimate, times);
  else
    CompileLaunches(input, estimate, times);
  effect.assumptions.emplace_back("the model compiles without graph breaks, and shapes do not change");
  return effect;
}

FixValues Values(const FixContext& context) {
  if (!context.torch_version.empty() && !TorchIsAtLeast(context, 2, 0))
    return NoneBecause("torch.compile came with 2.0");
  if (!context.gpu) return {.values = {"default"}};
  if (context.all_values) return {.values = {"default", "reduce-overhead", "max-autotune"}};
  return {.values = {"default", "reduce-overhead"}};
}

constexpr std::string_view kModes[] = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"};
constexpr std::string_view kCures[] = {"unfused_pointwise", "launch_bound", "memory_bound",   "tiny_kernels",
                                       "low_occupancy",     "host_bound",   "host_operators", "unfused_conv_bn"};
constexpr std::string_view kConflicts[] = {fixes::kCudagraph.name, fixes::kCheckpoint.name,
                                           fixes::kCheckpointBatch.name};

}  // namespace

FIX(compile) = {
    .name = "compile",
    .help = "Have torch.compile fuse the model's operators",
    .safety = Safety::kStochastic,
    .model = {.why = "Pointwise, norm and reduction kernels take 55 % of their time (35 to 100 %), the host's calls of "
                     "such operators and the Python between them half (30 to 100 %); products, convolutions, "
                     "attention, the loader and the optimiser stay. Over 163 models on an A100 a step became 1.43 "
                     "times as fast in the mean, from 0.7 to 2 and more (PyTorch 2.0 release). Where the host itself "
                     "computes, k operators in a row take 1/sqrt(k) of their time (1/k to all of it, not below 35 and "
                     "15 %), short ones and the Python between them 35 % (15 to 100 %); products, convolutions and "
                     "pooling stay.",
              .apply = Apply},
    .trial = {.value = "[MODE]",
              .grammar = {"default, reduce-overhead, max-autotune or max-autotune-no-cudagraphs", IsOneOf<kModes>},
              .why = "Where many small kernels, or Python between operators, take the time, and shapes stay the same. "
                     "The model is compiled in place (Module.compile), so the keys of its state stay. Mode "
                     "`reduce-overhead` adds CUDA graphs, `max-autotune` searches for kernels. Compiling takes from "
                     "seconds to minutes, and again for each new shape: the report has the number of steps after which "
                     "it pays off. Rounds differently, and draws other masks for dropout. Prior: 1.43 times in the "
                     "mean over 163 models on an A100 (fp32 1.21, mixed precision 1.51; PyTorch 2.0 release), 300 to "
                     "130 ms (GPT-2 124M); but also 72 to 103 ms (DeBERTa, pytorch#98441).",
              .effort = Effort::kQuick,
              .choice = {.order = 80, .cures = kCures, .conflicts = kConflicts, .prior = 1.3, .slow_start = true},
              .live = {.between_steps = true},
              .values = Values,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::compile_fix
