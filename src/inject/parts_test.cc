// SPDX-License-Identifier: Apache-2.0
// The smaller parts of the collector: names, buffers, whose process it is, where CUPTI lies.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "inject/buffers.h"
#include "inject/cupti_api.h"
#include "inject/layouts.h"
#include "inject/process.h"
#include "inject/text_table.h"

namespace gapless::internal::inject {
namespace {

TEST(TextTable, EqualTextsHaveOneNumberWhereverTheyLie) {
  TextTable table;
  ASSERT_TRUE(table.Allocate());
  const std::string a = "kernel", b = "kernel", c = "other";
  bool fresh = false;
  const uint32_t first = table.NumberOf(a.c_str(), fresh);
  EXPECT_TRUE(fresh);
  EXPECT_EQ(table.NumberOf(b.c_str(), fresh), first);
  EXPECT_FALSE(fresh);
  EXPECT_NE(table.NumberOf(c.c_str(), fresh), first);
  EXPECT_EQ(table.NumberOf(nullptr, fresh), 0U);
}

TEST(TextTable, APointerUsedAgainIsNotTakenForTheOldName) {
  TextTable table;
  ASSERT_TRUE(table.Allocate());
  char text[] = "first_kernel";
  bool fresh = false;
  const uint32_t first = table.NumberOf(text, fresh);
  text[0] = 'F';
  EXPECT_NE(table.NumberOf(text, fresh), first);
  EXPECT_TRUE(fresh);
  text[0] = 'f';
  EXPECT_EQ(table.NumberOf(text, fresh), first);
}

TEST(TextTable, LongTextsAreToldApartBehindWhatIsKept) {
  TextTable table;
  ASSERT_TRUE(table.Allocate());
  const std::string beginning(kMaxTextSize, 'x');
  bool fresh = false;
  const uint32_t whole = table.NumberOf(beginning.c_str(), fresh);
  const uint32_t first = table.NumberOf((beginning + "a").c_str(), fresh);
  EXPECT_TRUE(fresh);
  const uint32_t second = table.NumberOf((beginning + "b").c_str(), fresh);
  EXPECT_TRUE(fresh);
  EXPECT_NE(first, whole);
  EXPECT_NE(first, second);
  EXPECT_EQ(table.NumberOf((beginning + "a").c_str(), fresh), first);
  EXPECT_FALSE(fresh);
}

TEST(TextTable, ForgetsWhenFullAndNumbersGoOn) {
  TextTable table;
  ASSERT_TRUE(table.Allocate());
  bool fresh = false;
  uint32_t last = 0;
  for (size_t i = 0; i <= TextTable::kMaxTexts; ++i) {
    const uint32_t number = table.NumberOf(std::to_string(i).c_str(), fresh);
    ASSERT_TRUE(fresh);
    ASSERT_GT(number, last);
    last = number;
  }
  EXPECT_EQ(table.generation(), 1U);
  EXPECT_EQ(table.NumberOf("0", fresh), last + 1);
}

TEST(Buffers, AreBoundedAndComeBack) {
  const auto buffers = std::make_unique<Buffers>();
  std::vector<uint8_t*> taken;
  for (size_t i = 0; i < Buffers::kBuffers; ++i) {
    taken.push_back(buffers->TakeEmpty());
    ASSERT_NE(taken.back(), nullptr);
  }
  EXPECT_EQ(buffers->TakeEmpty(), nullptr);
  EXPECT_TRUE(buffers->lent());
  buffers->AddFull({taken[3], 42, nullptr, 7});
  const FullBuffer full = buffers->TakeFull(nullptr);
  EXPECT_EQ(full.bytes, taken[3]);
  EXPECT_EQ(full.valid_bytes, 42U);
  EXPECT_EQ(buffers->TakeFull(nullptr).bytes, nullptr);
  buffers->GiveBack(full.bytes);
  EXPECT_EQ(buffers->TakeEmpty(), taken[3]);
  buffers->GiveBack(taken[3]);
  buffers->Stop();
  EXPECT_EQ(buffers->TakeEmpty(), nullptr);
}

TEST(Buffers, WaitingEndsAtTheDeadlineAndWhenWoken) {
  const auto buffers = std::make_unique<Buffers>();
  timespec deadline{};
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  EXPECT_EQ(buffers->TakeFull(&deadline).bytes, nullptr);
  deadline.tv_sec += 3600;
  buffers->Wake();
  EXPECT_EQ(buffers->TakeFull(&deadline).bytes, nullptr);
}

class ProcessTest : public ::testing::Test {
 protected:
  ~ProcessTest() override {
    for (const auto& [name, before] : before_)
      before ? setenv(name.c_str(), before->c_str(), 1) : unsetenv(name.c_str());
  }
  void Set(const char* name, const char* value) {
    const char* const before = std::getenv(name);
    before_.try_emplace(name, before != nullptr ? std::make_unique<std::string>(before) : nullptr);
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  void SetUp() override {
    for (const char* const name :
         {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_NTASKS",
          "GAPLESS_RUN", "GAPLESS_DISABLE", "GAPLESS_CUPTI", "NSYS_PROFILING_SESSION_ID"})
      Set(name, nullptr);
  }
  std::map<std::string, std::unique_ptr<std::string>> before_;
};

TEST_F(ProcessTest, RankComesFromTheLauncher) {
  EXPECT_EQ(RankOfProcess().rank, -1);
  Set("SLURM_PROCID", "2"), Set("SLURM_NTASKS", "1");
  EXPECT_EQ(RankOfProcess().rank, -1);
  Set("SLURM_NTASKS", "4");
  EXPECT_EQ(RankOfProcess().rank, 2);
  EXPECT_EQ(RankOfProcess().world_size, 4);
  Set("OMPI_COMM_WORLD_RANK", "1");
  EXPECT_EQ(RankOfProcess().rank, 1);
  Set("RANK", "5"), Set("WORLD_SIZE", "8");
  EXPECT_EQ(RankOfProcess().rank, 5);
  EXPECT_EQ(RankOfProcess().world_size, 8);
  Set("RANK", "five");
  EXPECT_EQ(RankOfProcess().rank, 1);
}

TEST_F(ProcessTest, CollectsOnlyWithinARunAndNotBesideAnother) {
  const char* why = nullptr;
  EXPECT_EQ(Decide(why), Decision::kOff);
  Set("GAPLESS_RUN", "run");
  EXPECT_EQ(Decide(why), Decision::kCollect);
  Set("GAPLESS_CUPTI", "never");
  EXPECT_EQ(Decide(why), Decision::kOff);
  Set("GAPLESS_CUPTI", "always");
  EXPECT_EQ(Decide(why), Decision::kCollect);
  Set("NSYS_PROFILING_SESSION_ID", "1");
  EXPECT_EQ(Decide(why), Decision::kStepAside);
  ASSERT_NE(why, nullptr);
  Set("GAPLESS_DISABLE", "1");
  EXPECT_EQ(Decide(why), Decision::kOff);
}

TEST(Places, BesideTheRuntimeOfTheSameVersion) {
  const auto places = [](const char* library) {
    std::vector<std::string> found;
    const auto keep = [](const char* path, void* into) {
      static_cast<std::vector<std::string>*>(into)->emplace_back(path);
      return false;
    };
    EXPECT_FALSE(VisitBeside(library, keep, &found));
    return found;
  };
  const auto wheel12 = places("/v/nvidia/cuda_runtime/lib/libcudart.so.12");
  ASSERT_EQ(wheel12.size(), 4U);
  EXPECT_EQ(wheel12[0], "/v/nvidia/cuda_runtime/lib/libcupti.so.12");
  EXPECT_EQ(wheel12[1], "/v/nvidia/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.12");
  EXPECT_EQ(places("/v/nvidia/cu13/lib/libcublas.so.13")[0], "/v/nvidia/cu13/lib/libcupti.so.13");
  EXPECT_TRUE(places("/v/lib/libcudart.so.11.0").empty());
  EXPECT_TRUE(places("/lib/libc.so.6").empty());
  EXPECT_TRUE(places("").empty());
}

TEST(Versions, OnlyThoseWhoseLayoutIsKnown) {
  for (const uint32_t version : {18U, 28U, 130000U, 130500U}) EXPECT_TRUE(IsKnownVersion(version)) << version;
  for (const uint32_t version : {0U, 17U, 110000U, 140000U}) EXPECT_FALSE(IsKnownVersion(version)) << version;
}

}  // namespace
}  // namespace gapless::internal::inject
