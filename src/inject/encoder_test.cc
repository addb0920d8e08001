// SPDX-License-Identifier: Apache-2.0
// Records in, bytes out. The true libcupti of CUDA 12 takes part where it is at hand: it says where its records begin
// and what calls are called, for which it needs no GPU. Whole runs are in tests/inject_test.cc.
#include "inject/encoder.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gapless::internal::inject {
namespace {

using wire::RecordType;

class Keep : public BlockSink {
 public:
  void Write(const uint8_t* block, size_t bytes, uint32_t) override {
    wire::BlockHeader header{};
    std::memcpy(&header, block, sizeof header);
    payload.append(reinterpret_cast<const char*>(block) + sizeof header, header.payload_bytes);
    EXPECT_LE(sizeof header + header.payload_bytes, bytes);
  }
  std::string payload;
};

// The bodies of the records in a payload, by type.
std::multimap<RecordType, std::string> RecordsIn(const std::string& payload) {
  std::multimap<RecordType, std::string> records;
  for (size_t at = 0; at + 2 <= payload.size();) {
    const auto type = static_cast<RecordType>(payload[at]);
    uint32_t length = static_cast<uint8_t>(payload[at + 1]);
    size_t head = 2;
    if (length == 255) std::memcpy(&length, payload.data() + at + 2, 4), head = 6;
    records.emplace(type, payload.substr(at + head, length));
    at += head + length;
  }
  return records;
}

class EncoderTest : public ::testing::Test {
 protected:
  EncoderTest() { EXPECT_TRUE(encoder_->Allocate()); }
  std::multimap<RecordType, std::string> Close() {
    block_->Close();
    return RecordsIn(sink_.payload);
  }
  static std::vector<std::string> Texts(const std::multimap<RecordType, std::string>& records) {
    std::vector<std::string> texts;
    for (auto [at, end] = records.equal_range(RecordType::kText); at != end; ++at)
      texts.push_back(at->second.substr(1));
    return texts;
  }
  template <class Record>
  Record& New(CUpti_ActivityKind kind) {
    auto& record = *reinterpret_cast<Record*>(buffer_ + used_);
    record.kind = kind;
    used_ += sizeof(Record);
    return record;
  }
  // As CUPTI hands it over: bytes in a buffer.
  template <class Record>
  void Add(const Record& record) {
    std::memcpy(buffer_, &record, sizeof record);
    encoder_->Add(*reinterpret_cast<const CUpti_Activity*>(buffer_));
  }
  CuptiApi api_;
  Keep sink_;
  std::unique_ptr<Block> block_ = std::make_unique<Block>(sink_);
  std::unique_ptr<Encoder> encoder_ = std::make_unique<Encoder>(api_, *block_);
  alignas(8) uint8_t buffer_[4096] = {};
  size_t used_ = 0;
};

TEST_F(EncoderTest, NamesAreDefinedOnceAndReadable) {
  CUpti_ActivityKernel5 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel.start = 5, kernel.end = 9;
  for (const char* const name : {"_Z5saxpyifPfS_", "_Z5saxpyifPfS_", "_Z_not_mangled", "triton_poi_fused_0"}) {
    kernel.name = name;
    Add(kernel);
  }
  kernel.name = nullptr;
  Add(kernel);
  const auto records = Close();
  EXPECT_EQ(Texts(records),
            (std::vector<std::string>{"saxpy(int, float, float*, float*)", "_Z_not_mangled", "triton_poi_fused_0"}));
  EXPECT_EQ(records.count(RecordType::kKernel), 5U);
  EXPECT_TRUE(encoder_->worth_writing());
}

TEST_F(EncoderTest, KindsItDoesNotKnowAreCounted) {
  CUpti_Activity record{};
  record.kind = CUPTI_ACTIVITY_KIND_PCIE;
  encoder_->Add(record), encoder_->Add(record);
  EXPECT_FALSE(encoder_->worth_writing());
  encoder_->AddCounts();
  encoder_->AddCounts();
  const auto records = Close();
  ASSERT_EQ(records.count(RecordType::kDropped), 1U);
  EXPECT_EQ(records.find(RecordType::kDropped)->second, (std::string{2, static_cast<char>(wire::DropCause::kUnknown)}));
}

TEST_F(EncoderTest, ALongNameIsCutAndHasItsLengthInFourBytes) {
  const std::string name(100'000, 'n');
  CUpti_ActivityMarker2 marker{};
  marker.kind = CUPTI_ACTIVITY_KIND_MARKER, marker.name = name.c_str();
  Add(marker);
  Add(marker);
  const auto texts = Texts(Close());
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts[0].size(), wire::kMaxTextBytes - wire::kMaxVarintBytes);
  EXPECT_NE(texts[0].find("... (cut from 100000 bytes, "), std::string::npos);
}

TEST_F(EncoderTest, LongNamesThatBeginAlikeStayApart) {
  std::string name(100'000, 'n');
  CUpti_ActivityMarker2 marker{};
  marker.kind = CUPTI_ACTIVITY_KIND_MARKER, marker.name = name.c_str();
  Add(marker);
  const std::string other = std::string(99'999, 'n') + "m";
  marker.name = other.c_str();
  Add(marker);
  const auto texts = Texts(Close());
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_NE(texts[0], texts[1]);
}

TEST_F(EncoderTest, DescribingAProcessIsNoReasonForAFile) {
  encoder_->AddInfo("key", "value");
  CUpti_ActivityContext2 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  Add(context);
  EXPECT_FALSE(encoder_->worth_writing());
  encoder_->AddMessage(0, "why");
  EXPECT_TRUE(encoder_->worth_writing());
}

TEST_F(EncoderTest, TheTrueLibraryWalksTheRecordsAsWeReadThem) {
  const char* const path = GAPLESS_CUPTI_FOLDER "/cupti12/lib/libcupti.so.12";
  if (access(path, R_OK) != 0) GTEST_SKIP() << "libcupti of CUDA 12 is not there: tools/cupti_headers.sh brings it";
  setenv("GAPLESS_CUPTI_LIBRARY", path, 1);
  char why[512] = "";
  if (!OpenCupti(api_, why, sizeof why))
    GTEST_SKIP() << "libcupti of CUDA 12 cannot be used on this processor: " << why;
  EXPECT_EQ(api_.version, 28U);
  auto& call = New<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = 211, call.threadId = static_cast<uint32_t>(getpid());
  New<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL).name = "_Z5saxpyifPfS_";
  New<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  New<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  New<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  New<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  New<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  New<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER).name = "range";
  New<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  New<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  New<CUpti_ActivityMemoryPool2>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  New<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE).name = "GPU";
  New<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  New<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
  New<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
  auto& last = New<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
  last.cbid = 307, last.threadId = static_cast<uint32_t>(getpid());
  encoder_->AddBuffer(buffer_, used_);
  const auto records = Close();
  EXPECT_EQ(encoder_->records(), 16U);
  EXPECT_EQ(records.count(RecordType::kApi), 2U);
  EXPECT_EQ(records.count(RecordType::kMemcpy), 2U);
  for (const RecordType type :
       {RecordType::kKernel, RecordType::kMemset, RecordType::kSync, RecordType::kOverhead, RecordType::kMarker,
        RecordType::kGraphTrace, RecordType::kMemory, RecordType::kMemoryPool, RecordType::kDevice,
        RecordType::kContext, RecordType::kStream, RecordType::kName})
    EXPECT_EQ(records.count(type), 1U) << static_cast<int>(type);
  const auto texts = Texts(records);
  EXPECT_EQ(texts[0], "cudaLaunchKernel_v7000");
  EXPECT_EQ(texts.back(), "cuLaunchKernel");
}

}  // namespace
}  // namespace gapless::internal::inject
