// SPDX-License-Identifier: Apache-2.0
// The fix `cudagraph`: compiles the model with CUDA graphs. It is tried last, since a run with it starts slowly.
#include "optimize/fix.h"

namespace gapless::internal {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("CUDA graphs need a GPU");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"launch_bound", "tiny_kernels", "host_bound"};
constexpr std::string_view kConflicts[] = {fixes::kCompile.name, fixes::kOffload.name, fixes::kCheckpoint.name,
                                           fixes::kCheckpointBatch.name};

}  // namespace

FIX(cudagraph) = {
    FROM_CATALOGUE(kCudagraph),
    .why =
        "Where the host launches kernels more slowly than the GPU runs them, shapes stay the same and nothing "
        "waits for the GPU within the model. The model is compiled with CUDA graphs, which replay all launches "
        "at once. Its inputs are copied to fixed places; memory grows by the graph's own pool. Rounds "
        "differently, as kernels are fused too. Prior: often 1.2 to 3 times (NVIDIA's guide to CUDA graphs in "
        "deep learning); Mask R-CNN 1.7 times, BERT 1.12 times (MLPerf 1.0).",
    .effort = Effort::kMedium,
    .slow_start = true,
    .live = true,
    .order = 82,
    .cures = kCures,
    .conflicts = kConflicts,
    .prior = 1.2,
    .values = Values};

}  // namespace gapless::internal
