// SPDX-License-Identifier: Apache-2.0
// The catalogue: name, help and safety of everything that can make a step faster, each once. Rules recommend entries,
// `predict` has a model of some (predict/what_ifs), `optimize` can switch some on (optimize/fixes): all three take the
// words of an entry from here, so that they cannot disagree.
//
// To add one: add its line below, then the files of its model, its fix or both, which end with FROM_CATALOGUE(kName).
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "gapless/safety.h"

namespace gapless::internal {

struct FixInfo {
  std::string_view name;  // name of its files and its Python module, and in `--what` and `--only`
  std::string_view help;  // one line, imperative, of at most 60 characters, or 80 without a what-if
  Safety safety = Safety::kExact;
  std::optional<Safety> safety_with_value{};  // where a value changes it; absent: it does not

  // Returns the safety of the fix with `value`; empty: without a value.
  constexpr Safety SafetyWith(std::string_view value) const {
    return value.empty() ? safety : safety_with_value.value_or(safety);
  }
  // An item: "workers", "workers=4".
  std::string Item() const { return std::string(name); }
  std::string Item(std::string_view value) const { return std::string(name).append("=").append(value); }
  std::string Item(std::integral auto value) const { return Item(std::to_string(value)); }
};

// The first words of a FIX or a WHATIF.
#define FROM_CATALOGUE(entry) .name = fixes::entry.name, .help = fixes::entry.help, .safety = fixes::entry.safety

// The entries, in the order of their names. The help is one imperative line, which the lists of --list and the
// reference print.
//
// The safety of an entry is the most that it may change; `optimize` compares trainings and refuses a fix that changes
// more. With a value some entries change more than without (nosync=0 drops the exchange of gradients).
namespace fixes {

inline constexpr FixInfo kAccumulate = {
    .name = "accumulate", .help = "Step the optimiser once in K batches", .safety = Safety::kTraining};
inline constexpr FixInfo kAffinity = {
    .name = "affinity", .help = "Keep each rank to processors of its own", .safety = Safety::kExact};
inline constexpr FixInfo kAllocator = {
    .name = "allocator", .help = "Let the memory of the GPU grow in segments", .safety = Safety::kExact};
inline constexpr FixInfo kAmp = {
    .name = "amp", .help = "Compute in bf16 or fp16 where that is safe, by autocast", .safety = Safety::kRounding};
inline constexpr FixInfo kAnomaly = {
    .name = "anomaly", .help = "Switch off anomaly detection that was left on", .safety = Safety::kExact};
inline constexpr FixInfo kBatch = {.name = "batch", .help = "Make batches larger", .safety = Safety::kTraining};
inline constexpr FixInfo kChannelsLast = {
    .name = "channels_last", .help = "Keep images and convolutions in NHWC", .safety = Safety::kRounding};
inline constexpr FixInfo kCheckpoint = {
    .name = "checkpoint", .help = "Compute activations again instead of keeping them", .safety = Safety::kExact};
inline constexpr FixInfo kCheckpointBatch = {.name = "checkpoint_batch",
                                             .help = "Compute activations again, and make batches K times as large",
                                             .safety = Safety::kTraining};
inline constexpr FixInfo kCompile = {
    .name = "compile", .help = "Have torch.compile fuse the model's operators", .safety = Safety::kStochastic};
inline constexpr FixInfo kCompress = {
    .name = "compress", .help = "Exchange gradients in bf16: half the bytes", .safety = Safety::kTraining};
inline constexpr FixInfo kConvBn = {
    .name = "conv_bn", .help = "Fold batch normalisations into convolutions", .safety = Safety::kRounding};
inline constexpr FixInfo kCudagraph = {
    .name = "cudagraph", .help = "Replay the model's kernels as CUDA graphs", .safety = Safety::kRounding};
inline constexpr FixInfo kCudnnBenchmark = {.name = "cudnn_benchmark",
                                            .help = "Let cuDNN try its algorithms and keep the fastest",
                                            .safety = Safety::kRounding};
inline constexpr FixInfo kDdpBucket = {
    .name = "ddp_bucket", .help = "Exchange gradients in buckets of MB MiB", .safety = Safety::kRounding};
inline constexpr FixInfo kDdpCompress = {
    .name = "ddp_compress", .help = "Exchange gradients in bf16", .safety = Safety::kTraining};
inline constexpr FixInfo kDdpStatic = {
    .name = "ddp_static", .help = "Tell DDP that the graph stays the same", .safety = Safety::kExact};
inline constexpr FixInfo kDdpView = {
    .name = "ddp_view", .help = "Let gradients be views into the buckets of DDP", .safety = Safety::kExact};
inline constexpr FixInfo kDropLast = {
    .name = "drop_last", .help = "Leave out the last, smaller batch of an epoch", .safety = Safety::kTraining};
inline constexpr FixInfo kFusedOptimizer = {
    .name = "fused_optimizer", .help = "Update all parameters in one kernel, or a few", .safety = Safety::kRounding};
inline constexpr FixInfo kFusion = {
    .name = "fusion", .help = "Fuse chains of pointwise operators into one kernel each", .safety = Safety::kRounding};
inline constexpr FixInfo kGcFreeze = {
    .name = "gc_freeze", .help = "Stop collecting garbage in the middle of steps", .safety = Safety::kExact};
inline constexpr FixInfo kGpu = {
    .name = "gpu", .help = "Move the program to another GPU: H100 SXM5, A100 PCIe 80GB", .safety = Safety::kHardware};
inline constexpr FixInfo kHost = {
    .name = "host", .help = "Scale the time of all host work by K", .safety = Safety::kHardware};
inline constexpr FixInfo kKernels = {.name = "kernels",
                                     .help = "Scale the time of kernels by K, or of kernels:REGEX alone",
                                     .safety = Safety::kHardware};
inline constexpr FixInfo kNetwork = {
    .name = "network", .help = "Scale the network's time per byte by K", .safety = Safety::kHardware};
inline constexpr FixInfo kNosync = {.name = "nosync",
                                    .help = "Exchange gradients in the last of several backward passes",
                                    .safety = Safety::kRounding,
                                    .safety_with_value = Safety::kTraining};
inline constexpr FixInfo kOffload = {
    .name = "offload", .help = "Keep activations in the memory of the host", .safety = Safety::kExact};
inline constexpr FixInfo kPin = {
    .name = "pin", .help = "Copy batches from pinned memory, beside the host", .safety = Safety::kExact};
inline constexpr FixInfo kPrefetch = {
    .name = "prefetch", .help = "Copy batches while the GPU computes the last one", .safety = Safety::kExact};
inline constexpr FixInfo kPrefetchFactor = {
    .name = "prefetch_factor", .help = "Let each loader worker have N batches ready", .safety = Safety::kExact};
inline constexpr FixInfo kSdpa = {
    .name = "sdpa", .help = "Compute attention by fused kernels", .safety = Safety::kRounding};
inline constexpr FixInfo kStraggler = {
    .name = "straggler", .help = "Bring slow ranks to the median's time for their own work", .safety = Safety::kExact};
inline constexpr FixInfo kSync = {
    .name = "sync", .help = "Remove the host's waits for the GPU within a step", .safety = Safety::kExact};
inline constexpr FixInfo kTf32 = {
    .name = "tf32", .help = "Run fp32 matrix work on matrix units as TF32", .safety = Safety::kRounding};
inline constexpr FixInfo kThreads = {
    .name = "threads", .help = "Compute on N threads of the processor, more or fewer", .safety = Safety::kRounding};
inline constexpr FixInfo kVmap = {.name = "vmap",
                                  .help = "Run Python loops over the rows of a tensor as one torch.vmap",
                                  .safety = Safety::kRounding};
inline constexpr FixInfo kWorkers = {
    .name = "workers", .help = "Load batches in N processes beside the training", .safety = Safety::kStochastic};
inline constexpr FixInfo kZeroGrad = {
    .name = "zero_grad", .help = "Drop gradients instead of filling them with zeros", .safety = Safety::kExact};

// Sorted by name.
inline constexpr std::array kAll = {
    &kAccumulate,     &kAffinity,       &kAllocator,       &kAmp,         &kAnomaly,   &kBatch,
    &kChannelsLast,   &kCheckpoint,     &kCheckpointBatch, &kCompile,     &kCompress,  &kConvBn,
    &kCudagraph,      &kCudnnBenchmark, &kDdpBucket,       &kDdpCompress, &kDdpStatic, &kDdpView,
    &kDropLast,       &kFusedOptimizer, &kFusion,          &kGcFreeze,    &kGpu,       &kHost,
    &kKernels,        &kNetwork,        &kNosync,          &kOffload,     &kPin,       &kPrefetch,
    &kPrefetchFactor, &kSdpa,           &kStraggler,       &kSync,        &kTf32,      &kThreads,
    &kVmap,           &kWorkers,        &kZeroGrad};

}  // namespace fixes

// Returns the entry called `name`, or null.
constexpr const FixInfo* FindFixInfo(std::string_view name) {
  for (const FixInfo* entry : fixes::kAll)
    if (entry->name == name) return entry;
  return nullptr;
}

}  // namespace gapless::internal
