// SPDX-License-Identifier: Apache-2.0
// Dimensions in which a job is spread over its ranks, and the names that programs give to their process groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gapless::internal {

enum class ParallelDimension : uint8_t {
  kData,        // the same model, other batches: gradients are added up
  kTensor,      // parts of each layer
  kPipeline,    // stretches of layers
  kExpert,      // the experts of a layer
  kExpertData,  // the same experts, other batches
  kSequence,    // parts of a sequence, put together for attention
  kContext,     // parts of a sequence that stay apart in attention
  kUnknown,
};
inline constexpr size_t kParallelDimensions = 8;
inline constexpr std::string_view kDimensionNames[kParallelDimensions] = {
    "data", "tensor", "pipeline", "expert", "expert_data", "sequence", "context", "unknown"};

inline std::string_view NameOf(ParallelDimension dimension) { return kDimensionNames[static_cast<size_t>(dimension)]; }

// Returns the dimension that a description names, as Megatron ("TENSOR_MODEL_PARALLEL_GROUP"), a device mesh of PyTorch
// ("mesh_dp_shard") or an engine ("tp:0") writes it. kUnknown: it names several, such as tensor and data together.
// Nothing: it names none ("default_pg", "undefined", "mesh_dim_0").
std::optional<ParallelDimension> DimensionByName(std::string_view description);

}  // namespace gapless::internal
