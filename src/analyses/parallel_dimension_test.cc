// SPDX-License-Identifier: Apache-2.0
// Tests which dimension a description of a process group names.
#include "analyses/parallel_dimension.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(ParallelDimension, IsNamedByMegatron) {
  EXPECT_EQ(DimensionByName("DATA_PARALLEL_GROUP"), ParallelDimension::kData);
  EXPECT_EQ(DimensionByName("DATA_PARALLEL_GROUP_WITH_CP"), ParallelDimension::kData);
  EXPECT_EQ(DimensionByName("TENSOR_MODEL_PARALLEL_GROUP"), ParallelDimension::kTensor);
  EXPECT_EQ(DimensionByName("PIPELINE_MODEL_PARALLEL_GROUP"), ParallelDimension::kPipeline);
  EXPECT_EQ(DimensionByName("EXPERT_MODEL_PARALLEL_GROUP"), ParallelDimension::kExpert);
  EXPECT_EQ(DimensionByName("EXPERT_DATA_PARALLEL_GROUP"), ParallelDimension::kExpertData);
  EXPECT_EQ(DimensionByName("CONTEXT_PARALLEL_GROUP"), ParallelDimension::kContext);
}

TEST(ParallelDimension, IsNamedByDeviceMeshesAndEngines) {
  EXPECT_EQ(DimensionByName("mesh_dp"), ParallelDimension::kData);
  EXPECT_EQ(DimensionByName("mesh_dp_shard"), ParallelDimension::kData);
  EXPECT_EQ(DimensionByName("mesh_tp"), ParallelDimension::kTensor);
  EXPECT_EQ(DimensionByName("mesh_pp"), ParallelDimension::kPipeline);
  EXPECT_EQ(DimensionByName("mesh_sp"), ParallelDimension::kSequence);
  EXPECT_EQ(DimensionByName("tp:0"), ParallelDimension::kTensor);
}

TEST(ParallelDimension, SeveralAtOnceAreNone) {
  EXPECT_EQ(DimensionByName("TENSOR_AND_DATA_PARALLEL_GROUP"), ParallelDimension::kUnknown);
  EXPECT_EQ(DimensionByName("TENSOR_AND_CONTEXT_PARALLEL_GROUP"), ParallelDimension::kUnknown);
}

TEST(ParallelDimension, OtherDescriptionsNameNone) {
  for (const char* text : {"", "default_pg", "undefined", "mesh_dim_0", "MODEL_PARALLEL_GROUP", "EMBEDDING_GROUP",
                           "step", "upper", "deep"})
    EXPECT_FALSE(DimensionByName(text)) << text;
}

}  // namespace
}  // namespace gapless::internal
