// SPDX-License-Identifier: Apache-2.0
// The bytes of a block.
#include "inject/block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gapless::internal::inject {
namespace {

using wire::RecordType;

class Keep : public BlockSink {
 public:
  void Write(const uint8_t* block, size_t bytes, uint32_t records) override {
    blocks.emplace_back(block, block + bytes);
    records_written += records;
  }
  std::vector<std::vector<uint8_t>> blocks;
  uint32_t records_written = 0;
};

wire::BlockHeader HeaderOf(const std::vector<uint8_t>& block) {
  wire::BlockHeader header{};
  std::memcpy(&header, block.data(), sizeof header);
  return header;
}

class BlockTest : public ::testing::Test {
 protected:
  Keep sink_;
  std::unique_ptr<Block> block_ = std::make_unique<Block>(sink_);
};

TEST_F(BlockTest, ARecordIsTypeLengthAndVarints) {
  block_->SetClocks(5, 7);
  block_->Begin(RecordType::kDropped);
  block_->Put(300);
  block_->Put(1);
  block_->End();
  block_->Close();
  ASSERT_EQ(sink_.blocks.size(), 1U);
  const auto& bytes = sink_.blocks[0];
  const wire::BlockHeader header = HeaderOf(bytes);
  EXPECT_EQ(header.magic, wire::kBlockMagic);
  EXPECT_EQ(header.record_count, 1U);
  EXPECT_EQ(header.payload_bytes, 5U);
  EXPECT_EQ(header.cupti_ns, 5);
  EXPECT_EQ(header.unix_ns, 7);
  EXPECT_EQ(bytes.size(), sizeof header + 8);
  EXPECT_EQ(header.checksum, wire::Checksum(bytes.data() + sizeof header, 8));
  const std::vector<uint8_t> record(bytes.begin() + sizeof header, bytes.begin() + sizeof header + 5);
  EXPECT_EQ(record, (std::vector<uint8_t>{4, 3, 0xAC, 0x02, 1}));
}

TEST_F(BlockTest, TimesAreDifferencesWithinTheirType) {
  for (const uint64_t start : {uint64_t{1'000'000}, uint64_t{1'000'010}, uint64_t{999'990}}) {
    block_->Begin(RecordType::kApi);
    block_->PutTime(start, start + 4);
    block_->End();
  }
  block_->Close();
  wire::FieldReader fields(sink_.blocks[0].data() + sizeof(wire::BlockHeader), sink_.blocks[0].data() + 64);
  for (const int64_t difference : {1'000'000, 10, -20}) {
    (void)fields.Next(), (void)fields.Next();  // type and length are single bytes below 128 here
    EXPECT_EQ(fields.NextSigned(), difference);
    EXPECT_EQ(fields.Next(), 5U);
  }
}

TEST_F(BlockTest, WorkWithoutAnEndHasNoDuration) {
  block_->Begin(RecordType::kKernel);
  block_->PutTime(10, 0);
  block_->End();
  block_->Close();
  EXPECT_EQ(sink_.blocks[0][sizeof(wire::BlockHeader) + 3], 0);
}

TEST_F(BlockTest, AFullBlockIsHandedOverAndTheNextCountsFromZero) {
  const std::string text(20'000, 'x');
  for (int i = 0; i < 30; ++i) {
    block_->Begin(RecordType::kText, wire::kMaxTextBytes);
    block_->Put(static_cast<uint64_t>(i + 1));
    block_->PutBytes(text.data(), text.size());
    block_->End();
  }
  block_->Close();
  EXPECT_GT(sink_.blocks.size(), 2U);
  EXPECT_EQ(sink_.records_written, 30U);
  for (const auto& bytes : sink_.blocks) {
    const wire::BlockHeader header = HeaderOf(bytes);
    EXPECT_EQ(bytes.size() % 8, 0U);
    EXPECT_EQ(bytes.size(), sizeof header + wire::Padded(header.payload_bytes));
    EXPECT_LE(header.payload_bytes, Block::kPayloadBytes);
  }
}

TEST_F(BlockTest, NothingIsWrittenWhenThereIsNothing) {
  block_->Close();
  EXPECT_TRUE(sink_.blocks.empty());
}

TEST(Varint, ComesBack) {
  uint8_t bytes[wire::kMaxVarintBytes];
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 35, UINT64_MAX}) {
    wire::FieldReader fields(bytes, wire::PutVarint(bytes, value));
    EXPECT_EQ(fields.Next(), value);
    EXPECT_FALSE(fields.missing());
    EXPECT_EQ(fields.Next(), 0U);
    EXPECT_TRUE(fields.missing());
  }
  for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(wire::Unfold(wire::Fold(value)), value);
}

}  // namespace
}  // namespace gapless::internal::inject
