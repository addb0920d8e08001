// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "trace/builder.h"

namespace gapless::internal {
namespace {

Trace Sample() {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  builder.info().path = "a/b.json";
  builder.info().rank = 3;
  for (int64_t i = 0; i < 200; ++i) {
    shard.Add(SliceRow{.name = shard.Text("op " + std::to_string(i)),
                       .category = SliceCategory::kOperator,
                       .pid = 1,
                       .tid = 1,
                       .ts_ns = i * 10,
                       .dur_ns = 9});
    shard.Add(SliceRow{.name = shard.Text("launch"),
                       .category = SliceCategory::kRuntime,
                       .api = ApiKind::kKernelLaunch,
                       .pid = 1,
                       .tid = 1,
                       .ts_ns = i * 10 + 1,
                       .dur_ns = 2,
                       .correlation = i});
    shard.Add(GpuOpRow{.name = shard.Text("kernel"), .ts_ns = i * 10 + 5, .dur_ns = 3, .correlation = i});
  }
  builder.AddEnvironment("key", "value");
  return std::move(builder).Finish();
}

class TraceFileTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string path_ =
      ::testing::TempDir() + "/gapless_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(TraceFileTest, ComesBackAsItWas) {
  const Trace trace = Sample();
  ASSERT_TRUE(WriteTraceFile(trace, path_));
  auto mapped = MapTraceFile(path_);
  ASSERT_TRUE(mapped) << mapped.error().ToString();
  EXPECT_EQ(mapped->info.path, "a/b.json");
  EXPECT_EQ(mapped->info.rank, 3);
  EXPECT_EQ(mapped->info.start_unix_ns, kAbsent);
  ASSERT_EQ(mapped->strings.size(), trace.strings.size());
  EXPECT_EQ(mapped->Text(mapped->environment.value[0]), "value");
  // Every column, byte by byte: written again, the file is the same.
  const std::string first = Bytes();
  ASSERT_TRUE(WriteTraceFile(*mapped, path_));
  EXPECT_EQ(Bytes(), first);
}

TEST_F(TraceFileTest, EveryPrefixIsAnError) {
  ASSERT_TRUE(WriteTraceFile(Sample(), path_));
  const std::string bytes = Bytes();
  for (size_t size = 0; size < bytes.size(); size += 509) {
    Write(bytes.substr(0, size));
    EXPECT_FALSE(MapTraceFile(path_)) << size;
  }
}

// A flipped byte may change a value, but ids still point into their tables and parents still come before their
// children.
TEST_F(TraceFileTest, DamageIsFoundOrHarmless) {
  ASSERT_TRUE(WriteTraceFile(Sample(), path_));
  const std::string bytes = Bytes();
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    Write(damaged);
    const auto mapped = MapTraceFile(path_);
    if (!mapped) continue;
    for (size_t row = 0; row < mapped->slices.size(); ++row) {
      ASSERT_LT(static_cast<size_t>(mapped->slices.name[row]), mapped->strings.size());
      for (SliceId at(row); at.valid(); at = mapped->slices.parent[at.value]) ASSERT_LE(at.value, row);
    }
  }
}

TEST_F(TraceFileTest, AFileThatIsNotThereIsAnError) { EXPECT_FALSE(MapTraceFile(path_ + ".none")); }

}  // namespace
}  // namespace gapless::internal
