// SPDX-License-Identifier: Apache-2.0
#include "analyses/work_type.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(WorkType, OfOperatorsByName) {
  const auto of = [](std::string_view name) { return ToString(WorkTypeOfOperator(name)); };
  EXPECT_EQ(of("aten::cudnn_convolution"), "conv");
  EXPECT_EQ(of("aten::convolution_backward"), "conv");
  EXPECT_EQ(of("aten::addmm"), "matmul");
  EXPECT_EQ(of("aten::_flash_attention_backward"), "attention");
  EXPECT_EQ(of("aten::native_batch_norm_backward"), "norm");
  EXPECT_EQ(of("aten::linalg_vector_norm"), "reduction") << "a norm of gradients normalises nothing";
  EXPECT_EQ(of("aten::threshold_backward"), "activation");
  EXPECT_EQ(of("aten::_softmax"), "reduction");
  EXPECT_EQ(of("aten::max_pool2d_with_indices"), "pooling");
  EXPECT_EQ(of("aten::_foreach_add_"), "optimizer");
  EXPECT_EQ(of("aten::embedding_dense_backward"), "embedding");
  EXPECT_EQ(of("fbgemm::permute_pooled_embs_auto_grad"), "embedding");
  EXPECT_EQ(of("record_param_comms"), "communication");
  EXPECT_EQ(of("triton_poi_fused_convolution_relu_0"), "other") << "its kernel shows the type";
}

TEST(WorkType, OfKernelsByClass) {
  EXPECT_EQ(WorkTypeOfClass(GpuOpClass::kGemm), WorkType::kMatmul);
  EXPECT_EQ(WorkTypeOfClass(GpuOpClass::kOther), WorkType::kOther);
}

}  // namespace
}  // namespace gapless::internal
