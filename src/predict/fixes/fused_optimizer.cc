// SPDX-License-Identifier: Apache-2.0
// The optimiser updates all parameters in a few kernels (fused=True) instead of some for each parameter.
//
// Model. The update is bound by memory: Adam reads parameter, gradient and both moments and writes three of them, 28
// bytes a parameter in fp32, and every kernel of a loop moves some of it again. The host launches a few kernels instead
// of thousands. Where the update runs over lists of tensors already (foreach), it has few launches, whose kernels fill
// the device: what is left to save is some of the traffic.
//
// If the host itself computes, what is short is the cost of calling an operator, most of which goes away; what is long
// is memory traffic, of which about half does.
//
// Trial. "fused" is tried first; where the version of PyTorch has none for processors, only "foreach" is left.
#include <algorithm>
#include <map>

#include "analyses/work_type.h"
#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/values.h"
#include "predict/program.h"

namespace gapless::internal::fused_optimizer_fix {
namespace {

constexpr double kLongNs = 20'000;
constexpr double kMaxOverTypical = 4;
constexpr size_t kMinStepsForTypical = 3;

bool IsFused(std::string_view name) {
  return name.find("fused") != std::string_view::npos || name.find("Fused") != std::string_view::npos;
}

// Do most kernels of the optimiser update lists of tensors?
bool RunsOverLists(const Trace& trace, const std::vector<uint8_t>& inside) {
  const GpuOpTable& ops = trace.gpu_ops;
  size_t all = 0, lists = 0;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != GpuOpKind::kKernel || !ops.launch[op].valid() || inside[ops.launch[op].value] == 0) continue;
    ++all;
    lists += trace.Text(ops.name[op]).find("multi_tensor_apply") != std::string_view::npos ? 1 : 0;
  }
  return all > 0 && 2 * lists > all;
}

// Do most of what the optimiser runs, kernels or, without any, operators, update in one go already?
bool IsFusedAlready(const Trace& trace, const std::vector<uint8_t>& inside) {
  const GpuOpTable& ops = trace.gpu_ops;
  size_t all = 0, fused = 0;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != GpuOpKind::kKernel || !ops.launch[op].valid() || inside[ops.launch[op].value] == 0) continue;
    ++all;
    fused += IsFused(trace.Text(ops.name[op])) ? 1 : 0;
  }
  if (all > 0) return 2 * fused > all;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (inside[row] != 0 && trace.Text(trace.slices.name[row]).starts_with("aten::_fused_")) return true;
  return false;
}

// Rows of the optimiser's calls by step, each in order of time; only of steps that make as many calls as most do.
std::vector<std::vector<uint32_t>> SameCallsByStep(const Trace& trace, const std::vector<uint8_t>& inside) {
  std::map<uint32_t, std::vector<uint32_t>> steps;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (inside[row] != 0 && trace.slices.step[row].valid()) steps[trace.slices.step[row].value].push_back(row);
  std::map<size_t, size_t> counts;
  for (const auto& [step, rows] : steps) ++counts[rows.size()];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  std::vector<std::vector<uint32_t>> same;
  for (auto& [step, rows] : steps)
    if (rows.size() == most->first) same.push_back(std::move(rows));
  for (std::vector<uint32_t>& rows : same)
    std::ranges::stable_sort(rows, {}, [&](uint32_t row) { return trace.slices.ts_ns[row]; });
  return same;
}

// Host time of the graph by the slice that owns it.
std::vector<int64_t> HostTimes(const Trace& trace, const EdgeTimes& times) {
  std::vector<int64_t> host(trace.slices.size());
  const std::vector<Edge>& edges = times.graph().edges;
  for (size_t i = 0; i < edges.size(); ++i)
    if (EdgeTimes::IsHostTime(edges[i].kind) && edges[i].owner != kNoRowValue)
      host[edges[i].owner] += times.before()[i];
  return host;
}

// Returns by slice which part of its host time is the call's: an update does the same in every step, so a call that
// took more than kMaxOverTypical times what the same one takes in other steps was held up by something else, which
// stays.
std::vector<double> OwnParts(const Trace& trace, const std::vector<uint8_t>& inside, const EdgeTimes& edges) {
  std::vector<double> parts(trace.slices.size(), 1.0);
  const std::vector<int64_t> own = HostTimes(trace, edges);
  const auto steps = SameCallsByStep(trace, inside);
  if (steps.size() < kMinStepsForTypical) return parts;
  std::vector<double> times;
  for (size_t call = 0; call < steps.front().size(); ++call) {
    times.clear();
    for (const auto& rows : steps) times.push_back(static_cast<double>(own[rows[call]]));
    std::ranges::nth_element(times, times.begin() + static_cast<ptrdiff_t>(times.size() / 2));
    const double most_ns = kMaxOverTypical * times[times.size() / 2];
    for (const auto& rows : steps) {
      const auto own_ns = static_cast<double>(own[rows[call]]);
      const bool same_name = trace.slices.name[rows[call]] == trace.slices.name[steps.front()[call]];
      if (same_name && own_ns > most_ns) parts[rows[call]] = most_ns / own_ns;
    }
  }
  return parts;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  const std::vector<uint8_t>& inside = input.Once(InsideOptimizers);
  WhatIfEffect effect;
  if (std::find(inside.begin(), inside.end(), 1) == inside.end())
    effect.refusal = "no optimiser's step was recorded";
  else if (IsFusedAlready(trace, inside))
    effect.no_effect = "the optimiser is fused already";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const bool lists = RunsOverLists(trace, inside);
  times.ScaleOps([&](uint32_t op) {
    const bool updates = ops.kind[op] == GpuOpKind::kKernel && ops.launch[op].valid() && inside[ops.launch[op].value];
    if (!updates) return 1.0;
    return lists ? ValueFor(estimate, 1.0, 0.7, 0.4) : ValueFor(estimate, 0.8, 0.5, 0.3);
  });
  const bool computes = ops.size() == 0;  // the host itself
  const std::vector<int64_t>& own = input.Once(OwnTimes);
  const std::vector<double> parts = computes ? OwnParts(trace, inside, times) : std::vector<double>();
  times.ScaleHost([&](uint32_t slice) {
    if (slice == kNoRowValue || inside[slice] == 0) return 1.0;
    if (lists) return ValueFor(estimate, 0.8, 0.4, 0.15);
    if (!computes) return ValueFor(estimate, 0.4, 0.1, 0.03);
    const auto own_ns = static_cast<double>(own[slice]) * parts[slice];
    const double factor = own_ns < kLongNs || !IsOwnWork(trace, slice) ? ValueFor(estimate, 0.4, 0.2, 0.08)
                                                                       : ValueFor(estimate, 1.0, 0.6, 0.35);
    return 1 - (1 - factor) * parts[slice];
  });
  return effect;
}

FixValues Values(const FixContext& context) {
  // Fused optimisers of processors came with 2.4.
  if (!context.gpu && !context.torch_version.empty() && !TorchIsAtLeast(context, 2, 4)) return {.values = {"foreach"}};
  return {.values = {"fused", "foreach"}};
}

constexpr std::string_view kHows[] = {"fused", "foreach"};
constexpr std::string_view kCures[] = {"unfused_optimizer", "host_optimizer", "tiny_kernels"};

}  // namespace

FIX(fused_optimizer) = {
    .name = "fused_optimizer",
    .help = "Update all parameters in one kernel, or a few",
    .safety = Safety::kRounding,
    .model =
        {.why =
             "Kernels of the optimiser's step take half their time (30 to 80 %: Adam in fp32 moves 28 bytes a "
             "parameter, a loop over operators some of it again), and the host launches a tenth of them (3 to 40 %). "
             "Where it runs over lists of tensors already (foreach), kernels take 70 % (40 to 100 %) and the host 40 % "
             "(15 to 80 %). "
             "Where the host itself computes, short operators cost a fifth (8 to 40 %), long ones 60 % (35 to 100 %).",
         .apply = Apply},
    .trial = {.value = "[HOW]",
              .grammar = {"fused or foreach", IsOneOf<kHows>},
              .why = "Where the optimiser launches a kernel, or runs an operator, for each parameter. Adam, AdamW, SGD "
                     "and Adagrad get fused=True, or foreach=True, also where the program asks for the loop "
                     "(foreach=False) and those that exist already; what cannot be stays as it is. Rounds differently "
                     "(losses differ in the 7th digit); where Adam keeps its step count changes. The gain is at most "
                     "the optimiser's share of a step. Prior: 93 to 90 ms a step, 1.03 times (GPT-2 124M on an A100); "
                     "28 to 22 ms, 1.27 times (small model on a processor).",
              .effort = Effort::kQuick,
              .choice = {.order = 90, .cures = kCures, .prior = 1.05, .blind = true},
              .needs = {.optimizer = true},
              .live = {.between_steps = true},
              .values = Values}};

}  // namespace gapless::internal::fused_optimizer_fix
