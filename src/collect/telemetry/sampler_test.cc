// SPDX-License-Identifier: Apache-2.0
// Tests the sampler on this process and on fake /proc trees.
#include "collect/telemetry/sampler.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "collect/telemetry/proc.h"
#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal {
namespace {

using testing::FakeRoot;

std::string FileIn(const FakeRoot& root) { return root.folder() + "/telemetry.gts"; }
Descriptor FileAt(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}
std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void Sleep(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(TelemetrySampler, SamplesThisProcess) {
  const FakeRoot root;
  TelemetrySampler sampler;
  TelemetryOptions options{.hz = 50, .root_pid = getpid()};
  options.sources.nvml_library = options.sources.dcgmi = "";
  ASSERT_TRUE(sampler.Start(FileAt(FileIn(root)), FileIn(root), options));
  Sleep(400);
  const size_t while_running = Content(FileIn(root)).size();
  sampler.Stop();
  const std::string bytes = Content(FileIn(root));
  EXPECT_GT(while_running, sizeof(telemetry::FileHeader) + 100);  // it is written as it goes
  EXPECT_EQ(bytes.size() % 8, 0U);
  EXPECT_EQ(bytes.size(), sampler.stats().bytes);
  const TelemetryStats stats = sampler.stats();
  EXPECT_GE(stats.ticks + stats.missed_ticks, 15);
  EXPECT_GT(stats.values, 50U);
  EXPECT_NE(bytes.find("process.cpu"), std::string::npos);
  EXPECT_NE(bytes.find("telemetry.absent.nvml"), std::string::npos);
  sampler.Stop();  // a second time does nothing
}

TEST(TelemetrySampler, OnlyTheCollectorsThatAreWanted) {
  const FakeRoot root;
  TelemetrySampler sampler;
  ASSERT_TRUE(sampler.Start(FileAt(FileIn(root)), FileIn(root), {.collectors = {"nvml"}}));
  sampler.Stop();
  EXPECT_EQ(Content(FileIn(root)).find("host.cpu"), std::string::npos);
}

TEST(TelemetrySampler, AFolderThatIsNotThereIsAnError) {
  TelemetrySampler sampler;
  const auto started = sampler.Start(FileAt("/nonexistent/telemetry.gts"), "/nonexistent/telemetry.gts", {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kEnvironment);
  EXPECT_FALSE(started.error().hint.empty());
}

TEST(TelemetrySampler, AFullDiskEndsTheFileAndNothingElse) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  TelemetrySampler sampler;
  ASSERT_TRUE(sampler.Start(FileAt("/dev/full"), "/dev/full", {.hz = 100}));
  Sleep(30);
  sampler.Stop();
  EXPECT_EQ(sampler.stats().bytes, 0U);
  EXPECT_EQ(sampler.stats().error, ENOSPC);
  EXPECT_GT(sampler.stats().ticks, 0);
}

std::string StatLine(int64_t pid, int64_t parent, int64_t start) {
  return std::to_string(pid) + " (a) b) S " + std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
         std::to_string(start) + " 1 1 0 0\n";
}

TEST(ProcessTree, FollowsChildrenAndKeepsOrphans) {
  const FakeRoot root;
  root.Write("/proc/10/stat", StatLine(10, 1, 100));
  root.Write("/proc/20/stat", StatLine(20, 10, 200));
  root.Write("/proc/30/stat", StatLine(30, 20, 300));
  root.Write("/proc/40/stat", StatLine(40, 1, 50));  // somebody else's
  root.Write("/proc/self/stat", "not a number");
  ProcessTree tree(root.folder() + "/proc");
  tree.Refresh(10);
  EXPECT_EQ(std::vector<int64_t>(tree.pids().begin(), tree.pids().end()), (std::vector<int64_t>{10, 20, 30}));
  root.Remove("/proc/20");
  root.Write("/proc/30/stat", StatLine(30, 1, 300));  // its parent ended, init adopted it
  tree.Refresh(10);
  EXPECT_EQ(std::vector<int64_t>(tree.pids().begin(), tree.pids().end()), (std::vector<int64_t>{10, 30}));
  root.Write("/proc/30/stat", StatLine(30, 1, 999));  // the number went to another process
  tree.Refresh(10);
  EXPECT_EQ(std::vector<int64_t>(tree.pids().begin(), tree.pids().end()), (std::vector<int64_t>{10}));
}

TEST(Proc, ReadsNumbers) {
  EXPECT_EQ(NumberAfter("MemTotal:  12 kB\nMem: 3\n", "Mem"), 3);
  EXPECT_EQ(NumberAfter("a 1\nb x\n", "b"), std::nullopt);
  EXPECT_EQ(ToInt(" 42\n"), 42);
  EXPECT_EQ(ToInt("max"), std::nullopt);
  EXPECT_EQ(Words(" a\tb  c ").size(), 3U);
  EXPECT_FALSE(ReadSmallFile("/nonexistent"));
}

TEST(Collectors, DescribeThemselves) {
  for (const Collector* collector : AllCollectors()) {
    EXPECT_FALSE(collector->help.empty());
    EXPECT_LE(collector->help.size(), 100U) << collector->name;
  }
}

}  // namespace
}  // namespace gapless::internal
