// SPDX-License-Identifier: Apache-2.0
// Tests of trace files: a round trip of all columns, and files that are cut, changed or of another version.
#include "trace/trace_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "trace/builder.h"
#include "trace/trace_check.h"

namespace gapless::internal {
namespace {

Trace SampleTrace() {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  builder.info().path = "a/b.json";
  builder.info().rank = 3;
  builder.info().process_start_unix_ns = 5;
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
  const Trace trace = SampleTrace();
  ASSERT_TRUE(WriteTraceFile(trace, path_));
  auto mapped = MapTraceFile(path_);
  ASSERT_TRUE(mapped) << mapped.error().ToString();
  EXPECT_EQ(mapped->info.path, "a/b.json");
  EXPECT_EQ(mapped->info.rank, 3);
  EXPECT_EQ(mapped->info.start_unix_ns, kAbsent);
  EXPECT_EQ(mapped->info.process_start_unix_ns, 5);
  EXPECT_EQ(mapped->info.process_end_unix_ns, kAbsent);
  ASSERT_EQ(mapped->strings.size(), trace.strings.size());
  EXPECT_EQ(mapped->Text(mapped->environment.value[0]), "value");
  // Every column, byte by byte: written again, the file is the same.
  const std::string first = Bytes();
  ASSERT_TRUE(WriteTraceFile(*mapped, path_));
  EXPECT_EQ(Bytes(), first);
}

// All kernels have one name and no graph: the first column of a table is whole, so that the table has a length.
TEST_F(TraceFileTest, AColumnOfOneValueIsOneValueInTheFile) {
  ASSERT_TRUE(WriteTraceFile(SampleTrace(), path_));
  const auto mapped = MapTraceFile(path_);
  ASSERT_TRUE(mapped) << mapped.error().ToString();
  const GpuOpTable& ops = mapped->gpu_ops;
  EXPECT_FALSE(ops.name.same());
  EXPECT_TRUE(ops.graph_id.same());
  EXPECT_EQ(ops.size(), 200U);
  EXPECT_EQ(ops.graph_id.size(), 200U);
  EXPECT_EQ(ops.graph_id[199], kAbsent);
}

TEST_F(TraceFileTest, MovedIntoANamelessFileItIsTheSame) {
  const Trace trace = SampleTrace();
  const std::string folder = path_ + "_folder";
  std::filesystem::create_directories(folder);
  {
    auto moved = MoveToFile(trace, folder);
    ASSERT_TRUE(moved) << moved.error().ToString();
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << "nothing to clean up, whatever happens";
    ASSERT_TRUE(WriteTraceFile(trace, path_));
    const std::string before = Bytes();
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(WriteTraceFile(*moved, path_));
      EXPECT_EQ(Bytes(), before);
      moved->file->Forget();  // what comes next is read from the file again
    }
  }
  std::filesystem::remove_all(folder);
  auto nowhere = MoveToFile(trace, folder);
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().ToString().find("No such file"), std::string::npos);
}

TEST_F(TraceFileTest, EveryPrefixIsAnError) {
  ASSERT_TRUE(WriteTraceFile(SampleTrace(), path_));
  const std::string bytes = Bytes();
  for (size_t size = 0; size < bytes.size(); size += 509) {
    Write(bytes.substr(0, size));
    EXPECT_FALSE(MapTraceFile(path_)) << size;
  }
}

TEST_F(TraceFileTest, AnyChangedByteIsFound) {
  ASSERT_TRUE(WriteTraceFile(SampleTrace(), path_));
  const std::string bytes = Bytes();
  const size_t last = bytes.find_last_not_of('\0');  // what fills up behind it is nobody's
  std::mt19937 random(1);
  int found = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    damaged[random() % last] ^= static_cast<char>(1 + random() % 255);
    Write(damaged);
    const auto mapped = MapTraceFile(path_);
    found += mapped ? 0 : 1;
    // Between two blocks are up to 63 bytes that mean nothing.
    if (mapped) {
      EXPECT_EQ(mapped->slices.ts_ns[199], 991);
    }
  }
  EXPECT_GT(found, 400);
}

TEST_F(TraceFileTest, AFileThatOthersCanWriteIsNotUsed) {
  ASSERT_TRUE(WriteTraceFile(SampleTrace(), path_));
  std::filesystem::permissions(path_, std::filesystem::perms(0666));
  EXPECT_FALSE(MapTraceFile(path_));
  std::filesystem::permissions(path_, std::filesystem::perms(0600));
  EXPECT_TRUE(MapTraceFile(path_));
}

TEST_F(TraceFileTest, ALinkIsNotFollowed) {
  const std::string target = path_ + ".target";
  ASSERT_TRUE(WriteTraceFile(SampleTrace(), target));
  std::filesystem::create_symlink(target, path_);
  EXPECT_FALSE(MapTraceFile(path_));
  std::filesystem::remove(target);
}

TEST_F(TraceFileTest, WhatTheBuilderMakesHoldsTogether) {
  EXPECT_TRUE(HoldsTogether(Trace()));
  EXPECT_TRUE(HoldsTogether(SampleTrace()));
}

TEST_F(TraceFileTest, WhatDoesNotHoldTogetherIsFound) {
  const auto with = [](const auto& change) {
    Trace trace = SampleTrace();
    change(trace);
    return HoldsTogether(trace);
  };
  EXPECT_FALSE(with([](Trace& t) { t.slices.name.mutable_data()[7] = StringId{100'000}; }));
  EXPECT_FALSE(with([](Trace& t) { t.slices.thread.mutable_data()[7] = ThreadId(1); }));
  EXPECT_FALSE(with([](Trace& t) { t.slices.thread.mutable_data()[7] = ThreadId(); }));
  EXPECT_FALSE(with([](Trace& t) { t.slices.parent.mutable_data()[7] = SliceId(7); }));
  EXPECT_FALSE(with([](Trace& t) { t.slices.depth.mutable_data()[7] = 9; }));
  EXPECT_FALSE(with([](Trace& t) { t.slices.category.mutable_data()[7] = static_cast<SliceCategory>(200); }));
  EXPECT_FALSE(with([](Trace& t) { t.slices.dur_ns.mutable_data()[7] = -1; }));
  EXPECT_FALSE(with([](Trace& t) { t.slices.ts_ns.mutable_data()[7] = 5000; }));
  EXPECT_FALSE(with([](Trace& t) { t.gpu_ops.ts_ns.mutable_data()[199] = INT64_MAX; }));
  EXPECT_FALSE(with([](Trace& t) { t.gpu_ops.launch.mutable_data()[7] = SliceId(400); }));
  EXPECT_FALSE(with([](Trace& t) { t.info.dur_ns = -5; }));
}

TEST_F(TraceFileTest, AFileThatIsNotThereIsAnError) { EXPECT_FALSE(MapTraceFile(path_ + ".none")); }

}  // namespace
}  // namespace gapless::internal
