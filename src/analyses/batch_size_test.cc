// SPDX-License-Identifier: Apache-2.0
// Tests FindBatchSize on hand-made models: images, features, attention in several layouts, a partial last batch, and
// inputs that leave the batch size unknown.
#include "analyses/batch_size.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

struct OperatorCall {
  std::string_view name, shapes;
};

// Operators one after the other.
std::shared_ptr<const Trace> Program(const std::vector<OperatorCall>& calls) {
  HandMade trace;
  int64_t at = 0;
  for (const OperatorCall& call : calls) trace.OperatorOn(call.name, at, at + 50, {.shapes = call.shapes}), at += 100;
  return trace.Finish();
}

std::optional<int64_t> SamplesOf(const std::vector<OperatorCall>& calls) {
  const auto batch = FindBatchSize(*Program(calls));
  return batch ? std::optional(batch->samples) : std::nullopt;
}

TEST(BatchSize, ImagesComeFirst) {
  const auto batch = FindBatchSize(*Program({{"aten::conv2d", "[[64,3,224,224],[64,3,7,7],[],[],[],[],[]]"},
                                             {"aten::linear", "[[64,512],[1000,512],[1000]]"}}));
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->samples, 64);
  EXPECT_EQ(ToString(batch->source), "images");
  EXPECT_EQ(batch->layer, SliceId(0));
}

TEST(BatchSize, OneImageWithoutABatchIsUnknown) {
  EXPECT_EQ(SamplesOf({{"aten::conv2d", "[[3,224,224],[64,3,7,7],[],[],[],[],[]]"}}), std::nullopt);
}

TEST(BatchSize, FeaturesOfAModelWithoutSequences) {
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[256,784],[1024,784],[1024]]"}}), 256);
}

TEST(BatchSize, ASingleVectorHasNone) {
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[784],[1024,784],[1024]]"}}), std::nullopt);
}

TEST(BatchSize, IdsAloneDoNotTellWhichDimensionIsTheBatch) {
  EXPECT_EQ(
      SamplesOf({{"aten::embedding", "[[30522,512],[8,128]]"}, {"aten::linear", "[[8,128,512],[512,512],[512]]"}}),
      std::nullopt);
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,512],[1024]]"}}), std::nullopt) << "nor does a list of tokens";
}

TEST(BatchSize, AttentionTellsItForBothLayouts) {
  constexpr std::string_view kAttention = "[[8,12,128,64],[8,12,128,64],[8,12,128,64],[],[],[],[]]";
  constexpr std::string_view kName = "aten::scaled_dot_product_attention";
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,768],[8,128]]"}, {kName, kAttention}}), 8);
  const auto token_major = FindBatchSize(*Program({{"aten::embedding", "[[30522,768],[128,8]]"}, {kName, kAttention}}));
  ASSERT_TRUE(token_major);
  EXPECT_EQ(token_major->samples, 8) << "the sequence length 128 is not the batch";
  EXPECT_EQ(ToString(token_major->source), "attention");
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[128,8,768],[768,768],[768]]"}, {kName, kAttention}}), 8);
}

TEST(BatchSize, AttentionTellsItForFlattenedRows) {
  constexpr std::string_view kAttention = "[[8,128,12,64],[8,128,12,64],[8,128,12,64]]";
  constexpr std::string_view kName = "aten::_flash_attention_forward";
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[1024,768],[768,768],[768]]"}, {kName, kAttention}}), 8);
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[1000,768],[768,768],[768]]"}, {kName, "[[16,128,12,64]]"}}), std::nullopt)
      << "1000 rows are no multiple of 16";
}

TEST(BatchSize, ScoresTellTheLengthAndSoTheBatch) {
  constexpr std::string_view kScores = "[[4096,128,128],[],[]]";
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[128,512,17],[128,17],[128]]"}, {"aten::_softmax", kScores}}), 512);
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[512,128,17],[128,17],[128]]"}, {"aten::_softmax", kScores}}), 512);
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[65536,17],[128,17],[128]]"}, {"aten::_softmax", kScores}}), 512);
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[128,128,17],[128,17],[128]]"}, {"aten::_softmax", kScores}}), 128);
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[128,500,17],[128,17],[128]]"}, {"aten::_softmax", kScores}}), std::nullopt)
      << "4096 scores are no whole number of heads of 500";
}

TEST(BatchSize, AttentionThatDisagreesTellsNothing) {
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,768],[8,16]]"},
                       {"aten::scaled_dot_product_attention", "[[8,12,16,64]]"},
                       {"aten::scaled_dot_product_attention", "[[16,12,8,64]]"}}),
            std::nullopt);
}

TEST(BatchSize, ALastPartialBatchTellsItsDimension) {
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,768],[128,32]]"},
                       {"aten::embedding", "[[30522,768],[128,32]]"},
                       {"aten::embedding", "[[30522,768],[128,7]]"}}),
            32);
}

// A prompt of 128 tokens for 8 requests, and then a token each.
TEST(BatchSize, APromptBeforeSingleTokensIsNoBatch) {
  HandMade trace;
  for (int64_t call = 0; call < 6; ++call)
    trace.OperatorOn("aten::embedding", call * 100, call * 100 + 50,
                     {.shapes = call == 0 ? "[[50000,768],[8,128]]" : "[[50000,768],[8,1]]"});
  EXPECT_FALSE(FindBatchSize(*trace.Finish()));
}
// Rows of a serving engine are tokens: its attention has a name of its own.
TEST(BatchSize, RowsBesideAnyAttentionAreNoBatch) {
  HandMade trace;
  trace.OperatorOn("aten::linear", 0, 50, {.shapes = "[[46,2880],[512,2880],[]]"});
  trace.OperatorOn("vllm::unified_attention", 60, 90, {.shapes = "[[46,64,64]]"});
  EXPECT_FALSE(FindBatchSize(*trace.Finish()));
}
TEST(BatchSize, LengthsThatVaryAreNoBatch) {
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,768],[32,128]]"},
                       {"aten::embedding", "[[30522,768],[32,91]]"},
                       {"aten::embedding", "[[30522,768],[32,110]]"}}),
            std::nullopt);
}

TEST(BatchSize, ProductsOfSequencesMakeRowsAmbiguous) {
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[1024,768],[768,768],[768]]"}, {"aten::bmm", "[[96,128,64],[96,64,128]]"}}),
            std::nullopt);
}

TEST(BatchSize, TheTableSaysWhereItComesFrom) {
  testing::Analysed run(std::vector{Program({{"aten::conv2d", "[[4,3,8,8],[6,3,3,3],[],[],[],[],[]]"}})});
  const auto table = run["batch_size"];
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.Int(0, "samples"), 4);
  EXPECT_EQ(table.Text(0, "operator"), "aten::conv2d");
  testing::Analysed unknown(std::vector{Program({{"aten::relu", "[[4,3]]"}})});
  EXPECT_TRUE(unknown["batch_size"].IsNull(0, "samples"));
}

TEST(BatchSize, EqualsTheOtherDimensions) {
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,512],[128,128]]"}}), 128) << "whichever dimension is the batch";
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[128,128],[128,128],[128]]"}}), 128);
  EXPECT_EQ(SamplesOf({{"aten::linear", "[[128,128,128],[128,128],[128]]"}}), 128);
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,512],[128,128]]"}, {"aten::baddbmm", "[[1536,128,128],[],[]]"}}),
            128);
  EXPECT_EQ(SamplesOf({{"aten::embedding", "[[30522,512],[128,128]]"}, {"aten::_softmax", "[[1536,128,128],[],[]]"}}),
            128)
      << "scores of 12 heads";
}

// A compiled model has products alone: forward [32, 784] x [784, 512], and backward for weights and inputs.
TEST(BatchSize, IsWhatAllProductsShare) {
  const std::vector<OperatorCall> compiled = {{"aten::addmm", "[[512],[32,784],[784,512],[],[]]"},
                                              {"aten::addmm", "[[256],[32,512],[512,256],[],[]]"},
                                              {"aten::addmm", "[[10],[32,256],[256,10],[],[]]"},
                                              {"aten::mm", "[[10,32],[32,256]]"},
                                              {"aten::mm", "[[32,10],[10,256]]"}};
  EXPECT_EQ(SamplesOf(compiled), 32);
  EXPECT_EQ(SamplesOf({{"aten::mm", "[[128,128],[128,128]]"},
                       {"aten::mm", "[[128,128],[128,128]]"},
                       {"aten::mm", "[[128,128],[128,128]]"}}),
            128);
  EXPECT_EQ(SamplesOf({{"aten::mm", "[[32,512],[512,512]]"},
                       {"aten::mm", "[[512,32],[32,512]]"},
                       {"aten::mm", "[[32,512],[512,512]]"}}),
            std::nullopt)
      << "32 or 512";
}

}  // namespace
}  // namespace gapless::internal
