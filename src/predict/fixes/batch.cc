// SPDX-License-Identifier: Apache-2.0
// Batches of N samples. A step then does another amount of work: the answer is to be divided by it.
//
// Model. Work of the device has a part that is there once a step and one that grows with the batch. Parameters do not
// grow: the optimiser and the exchange of gradients stay, as does the host; loading a batch grows.
//
// With a second recording of the program, of another batch, the two parts of each class of kernels are fitted to both:
// a line through two points. Within a tenth of what it grows or shrinks by.
//
// Prior, with one recording. A kernel keeps its time until its blocks fill the multiprocessors, where that was
// recorded, and grows with the batch from there on. A multiprocessor holds several blocks at once, as many as its
// threads, registers and shared memory allow: it is full with half of them (with one in the case that is worse for
// larger batches, with all of them in the other). Of the growth from there on nine tenths are expected; small kernels
// hide their fixed part in it: six tenths in the better case, all of it in the other.
//
// Trial. K times as many samples per batch. The model takes samples, not a factor, so there is no preview; speed is
// compared per sample.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analyses/batch_size.h"
#include "base/strings.h"
#include "fixes/names.h"
#include "predict/fix.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/op_inputs.h"
#include "predict/fixes/common/passes.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::batch_fix {
namespace {

constexpr size_t kClasses = kGpuOpClassNames.size();
constexpr double kFarthest = 100;  // times as many samples, or as few
using ByClass = std::array<double, kClasses>;

std::optional<int64_t> SamplesOf(const Trace& trace) {
  const std::optional<BatchSize> batch = FindBatchSize(trace);
  return batch ? std::optional(batch->samples) : std::nullopt;
}

// Returns the GPU time of a complete step, by class; absent without a complete step.
std::optional<ByClass> StepWork(const Trace& trace) {
  const double steps = static_cast<double>(AnalysedWindow(trace).steps.size());
  if (steps == 0) return std::nullopt;
  const GpuOpTable& ops = trace.gpu_ops;
  ByClass ns{};
  for (size_t op = 0; op < ops.size(); ++op)
    if (ops.step[op].valid() && trace.steps.complete[ops.step[op].value] != 0)
      ns[static_cast<size_t>(ops.op_class[op])] += static_cast<double>(ops.dur_ns[op]) / steps;
  return ns;
}

// Returns, for each class, the time with `size` samples as a factor on the time now, through this recording and
// another; absent: there is no other.
std::optional<ByClass> Fitted(const WhatIfInput& input, int64_t now, int64_t size) {
  const auto here = StepWork(input.trace());
  for (const RunTrace& other : input.tables.run().traces()) {
    if (other.role != Role::kPrimary || other.execution == input.of.execution || other.rank() != input.of.rank())
      continue;
    const auto there = StepWork(*other.trace);
    const auto batch = SamplesOf(*other.trace);
    if (!here || !there || !batch || *batch == now) continue;
    ByClass factors;
    for (size_t i = 0; i < kClasses; ++i) {
      const double each = std::clamp(((*there)[i] - (*here)[i]) / static_cast<double>(*batch - now), 0.0,
                                     (*here)[i] / static_cast<double>(now));
      factors[i] = (*here)[i] > 0 ? 1 + each * static_cast<double>(size - now) / (*here)[i] : 1;
    }
    return factors;
  }
  return std::nullopt;
}

// Returns how many blocks of this kernel a multiprocessor holds at once, 1 at least: threads, registers and shared
// memory are limited. What was not recorded limits nothing but the number of blocks.
double ResidentBlocks(const Trace& trace, uint32_t op) {
  constexpr double kMaxBlocks = 16, kThreads = 1536, kRegisters = 65'536, kSharedBytes = 100'000;
  const GpuOpTable& ops = trace.gpu_ops;
  const auto known = [](int32_t value) { return value == kAbsent32 ? 1.0 : std::max(1.0, static_cast<double>(value)); };
  double most_threads = kThreads;
  for (size_t row = 0; row < trace.devices.size(); ++row)
    if (trace.devices.device[row] == ops.device[op] && trace.devices.max_threads_per_sm[row] > 0)
      most_threads = trace.devices.max_threads_per_sm[row];
  const double threads = known(ops.block_x[op]) * known(ops.block_y[op]) * known(ops.block_z[op]);
  double blocks = std::min(kMaxBlocks, most_threads / threads);
  if (ops.registers[op] > 0) blocks = std::min(blocks, kRegisters / (threads * ops.registers[op]));
  if (ops.shared_bytes[op] > 0) blocks = std::min(blocks, kSharedBytes / ops.shared_bytes[op]);
  return std::max(1.0, std::floor(blocks));
}

// Returns the time factor of a kernel at `ratio` times the samples, if it first has to fill the device.
double Grown(const Trace& trace, uint32_t op, double ratio, Estimate estimate) {
  const auto blocks = static_cast<double>(trace.gpu_ops.blocks_per_sm[op]);
  if (!(blocks > 0)) return ratio;
  const double resident = trace.gpu_ops.block_x[op] > 0 ? ResidentBlocks(trace, op) : 1;
  const bool larger = ratio > 1;
  const double full = std::max(1.0, resident * ValueFor(estimate, larger ? 0 : 1, 0.5, larger ? 1 : 0));
  return std::max(full, blocks * ratio) / std::max(full, blocks);
}

bool Grows(const GpuOpTable& ops, const Passes& passes, uint32_t op) {
  const GpuOpClass op_class = ops.op_class[op];
  return op_class != GpuOpClass::kCommunication && op_class != GpuOpClass::kOptimizer &&
         passes.of_op[op] != Pass::kOptimizer;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto asked, item.Count());
  const Trace& trace = input.trace();
  const std::optional<int64_t> now = SamplesOf(trace);
  WhatIfEffect effect;
  if (!now) effect.refusal = "the batch size is not known: the recorded input shapes do not show it";
  const int64_t size = asked.value_or(1);
  if (now && *now == size) effect.no_effect = StrCat("batches have ", size, " samples already");
  const double ratio = now ? static_cast<double>(size) / static_cast<double>(*now) : 1;
  if (std::max(ratio, 1 / ratio) > kFarthest)
    effect.refusal = StrCat("batches of ", size, " are too far from the recorded ones of ", *now);
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const std::optional<ByClass> fitted = Fitted(input, *now, size);
  const bool larger = ratio > 1;
  const double growth = fitted ? (larger ? ValueFor(estimate, 1.1, 1, 0.9) : ValueFor(estimate, 0.9, 1, 1.1))
                               : (larger ? ValueFor(estimate, 1, 0.9, 0.6) : ValueFor(estimate, 0.6, 0.9, 1));
  const Passes& passes = input.Once(FindPasses);
  times.ScaleOps([&](uint32_t op) {
    if (!Grows(trace.gpu_ops, passes, op)) return 1.0;
    const double grown =
        fitted ? (*fitted)[static_cast<size_t>(trace.gpu_ops.op_class[op])] : Grown(trace, op, ratio, estimate);
    return std::max(0.0, 1 + growth * (grown - 1));
  });
  times.ScaleHost(
      [&](uint32_t slice) { return slice != kNoRowValue && passes.of_slice[slice] == Pass::kLoading ? ratio : 1.0; });
  effect.samples_factor = ratio;
  effect.assumptions.push_back(
      fitted ? StrCat("the device's work lies on a line through this recording (batches of ", *now, ") and the other")
             : StrCat("the device's work grows almost as batches do, from ", *now,
                      " samples: a single recording does not show more"));
  if (larger) effect.assumptions.push_back(StrCat("batches of ", size, " fit into the device's memory"));
  return effect;
}

FixValues Values(const FixContext& context) {
  return context.all_values ? FixValues{.values = {"2", "4", "8", "16"}} : FixValues{.values = {"2", "4"}};
}

bool Accepts(std::string_view value) { return IsPositive(value, 65536); }
constexpr std::string_view kCures[] = {"small_batch", "gpu_unused_memory", "underfilled_gpu", "low_occupancy",
                                       "tiny_kernels"};

constexpr std::string_view kConflicts[] = {fixes::kCheckpointBatch.name};

}  // namespace

FIX(batch) = {
    .name = "batch",
    .help = "Make batches larger",
    .safety = Safety::kTraining,
    .model = {.value = "N",
              .why = "Batches have N samples. Work of the device that grows with the batch is scaled, parameters, "
                     "optimiser, exchange of gradients and host stay. With a second recording of another batch size "
                     "both parts are fitted; with one, a kernel keeps its time until its blocks fill the "
                     "multiprocessors, and nine tenths (six tenths to all) of the work beyond are taken to grow. The "
                     "answer is the time for the samples of the recorded step.",
              .apply = Apply},
    .trial = {.value = "K",
              .grammar = {"a factor above 0 and up to 65536", Accepts},
              .why = "Where kernels are too small to fill the GPU and memory is free. DataLoader gets K times the "
                     "batch_size: fewer, larger steps, whose speed counts in samples. Learning rate, schedule and the "
                     "number of steps have to follow, so this is another training. A batch that does not fit into "
                     "memory fails in its trial, which is contained, and is rejected. No figure holds for all models; "
                     "`gapless predict --what batch=N` estimates the gain from a recording.",
              .effort = Effort::kQuick,
              // `predict --what batch=N` takes samples, this a factor: so it is not predictable.
              .choice = {.order = 30, .cures = kCures, .conflicts = kConflicts, .predictable = false},
              .values = Values}};

}  // namespace gapless::internal::batch_fix
