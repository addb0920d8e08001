// SPDX-License-Identifier: Apache-2.0
// Tests loading of files, directories and archives: ranks, broken inputs, and the cache with its permissions and
// damage.
#include "ingest/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ingest/cache.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/cache");
    setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("GAPLESS_CACHE_BYTES");
    fs::remove_all(folder_);
  }
  // A trace of `events` operators by process `pid`, starting at `start_us`.
  std::string Write(const std::string& name, const std::string& head, int64_t pid, int events = 3,
                    int64_t start_us = 100) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream out(path);
    out << "{" << head << "\"traceEvents\":[";
    for (int i = 0; i < events; ++i)
      out << (i > 0 ? "," : "") << R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":)" << pid << R"(,"tid":1,"ts":)"
          << start_us + i * 10 << R"(,"dur":5})";
    out << "]}";
    return path;
  }
  static std::string Distributed(int rank) {
    return "\"distributedInfo\":{\"rank\":" + std::to_string(rank) + ",\"world_size\":2},";
  }
  static LoadedRun Load(const std::vector<std::string>& paths, const OpenOptions& options = {}) {
    auto loaded = LoadRun(paths, options);
    EXPECT_TRUE(loaded) << loaded.error().ToString();
    return loaded ? std::move(*loaded) : LoadedRun{};
  }
  std::string folder_ =
      ::testing::TempDir() + "/gapless_load_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(LoadTest, AFolderOfRanksIsOneRun) {
  Write("b.json", Distributed(0), 10);
  Write("a.json", Distributed(1), 11);
  Write("notes.txt", "", 1);
  const LoadedRun loaded = Load({folder_});
  ASSERT_EQ(loaded.run.traces().size(), 2U);
  EXPECT_EQ(loaded.run.traces()[0].rank(), 0);
  EXPECT_EQ(loaded.run.traces()[1].rank(), 1);
}

TEST_F(LoadTest, OneBrokenRankDoesNotSpoilTheOthers) {
  Write("rank0.json", "", 10);
  std::ofstream(folder_ + "/rank1.json") << "broken";
  const LoadedRun loaded = Load({folder_});
  EXPECT_EQ(loaded.run.traces().size(), 1U);
  ASSERT_EQ(loaded.failures.size(), 1U);
  EXPECT_NE(loaded.failures[0].place.find("rank1.json"), std::string::npos);
}

TEST_F(LoadTest, AStrayFileHidesNoRecordingsInTheFoldersBesideIt) {
  fs::create_directories(folder_ + "/a");
  fs::create_directories(folder_ + "/.b");
  Write("a/x.json", Distributed(1), 10);
  Write(".b/y.json", Distributed(2), 10);
  EXPECT_EQ(Load({folder_}).run.traces().size(), 1U) << "no file of its own, and hidden folders are left out";
  std::ofstream(folder_ + "/package.json") << R"({"name": "x"})";
  const LoadedRun loaded = Load({folder_});
  ASSERT_EQ(loaded.run.traces().size(), 1U);
  EXPECT_EQ(loaded.run.traces()[0].rank(), 1);
  ASSERT_EQ(loaded.failures.size(), 1U);
  EXPECT_NE(loaded.failures[0].place.find("package.json"), std::string::npos);
  Write("z.json", Distributed(0), 10);
  EXPECT_EQ(Load({folder_}).run.traces().size(), 1U) << "with a recording of its own, a folder is searched no deeper";
  EXPECT_EQ(Load({folder_}).run.traces()[0].rank(), 0);
}

TEST_F(LoadTest, FoldersOfFoldersAreRead) {
  for (const char* folder : {"/log/worker0", "/log/worker1/plugins/profile"}) fs::create_directories(folder_ + folder);
  Write("log/worker0/t.pt.trace.json", Distributed(0), 1);
  Write("log/worker1/plugins/profile/t.pt.trace.json", Distributed(1), 1);
  for (const char* folder : {"", "/log"}) EXPECT_EQ(Load({folder_ + folder}).run.traces().size(), 2U) << folder;
}

TEST_F(LoadTest, TheRankComesFromTheUserThenTheRecordingThenTheName) {
  EXPECT_EQ(Load({"7=" + Write("rank3.json", Distributed(1), 10)}).run.traces()[0].rank(), 7);
  EXPECT_EQ(Load({Write("rank3.json", Distributed(1), 10)}).run.traces()[0].rank(), 1);
  EXPECT_EQ(Load({"7=" + Write("rank3.json", "", 10)}).run.traces()[0].rank(), 7);
  EXPECT_EQ(Load({Write("rank3.json", "", 10)}).run.traces()[0].rank(), 3);
  EXPECT_EQ(Load({Write("trace.json", "", 10)}).run.traces()[0].rank(), kAbsent);
}

TEST_F(LoadTest, OnlyTheRanksAskedFor) {
  Write("a.json", Distributed(0), 10);
  Write("b.json", Distributed(1), 11);
  EXPECT_EQ(Load({folder_}, {.ranks = {1}}).run.traces().size(), 1U);
  const auto none = LoadRun(std::vector{folder_}, {.ranks = {5}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kInput);
}

TEST_F(LoadTest, NothingToReadIsAnError) {
  EXPECT_FALSE(LoadRun(std::vector<std::string>{folder_ + "/none.json"}));
  EXPECT_FALSE(LoadRun(std::vector<std::string>{"3=" + std::string(10000, 'x')}));  // no system takes such a name
  EXPECT_FALSE(LoadRun(std::vector<std::string>{folder_}));                         // an empty folder
  EXPECT_FALSE(LoadRun({}));
}

TEST_F(LoadTest, TheCacheGivesTheSameTraceAndNoticesChanges) {
  const std::string path = Write("big.json", "", 10, 30'000);
  ASSERT_GT(fs::file_size(path), 1U << 20);
  const LoadedRun first = Load({path});
  const std::string key = CacheKey(path);
  ASSERT_TRUE(fs::exists(key));
  const LoadedRun second = Load({path});
  EXPECT_EQ(second.run.traces()[0].trace->slices.size(), first.run.traces()[0].trace->slices.size());
  EXPECT_EQ(second.run.traces()[0].trace->info.path, path);
  Write("big.json", "", 10, 30'001);
  EXPECT_NE(CacheKey(path), key);
  EXPECT_EQ(Load({path}).run.traces()[0].trace->slices.size(), 30'001U);
}

TEST_F(LoadTest, ADamagedCacheFileIsReadAnew) {
  const std::string path = Write("big.json", "", 10, 30'000);
  (void)Load({path});
  fs::resize_file(CacheKey(path), 1000);
  EXPECT_EQ(Load({path}).run.traces()[0].trace->slices.size(), 30'000U);
}

TEST_F(LoadTest, ACacheFileWithOneOtherValueIsReadAnew) {
  const std::string path = Write("big.json", "", 10, 30'000);
  (void)Load({path});
  const std::string key = CacheKey(path);
  std::string bytes = std::string(std::istreambuf_iterator<char>(std::ifstream(key, std::ios::binary).rdbuf()), {});
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  std::ofstream(key, std::ios::binary) << bytes;
  EXPECT_EQ(TakeFromCache(key), nullptr);
  EXPECT_EQ(Load({path}).run.traces()[0].trace->slices.size(), 30'000U);
}

TEST_F(LoadTest, TheCacheIsItsOwnersAlone) {
  const std::string path = Write("big.json", "", 10, 30'000);
  (void)Load({path});
  const fs::path key = CacheKey(path), folder = key.parent_path();
  const auto mode = [](const fs::path& of) { return fs::status(of).permissions() & fs::perms::all; };
  EXPECT_EQ(mode(folder), fs::perms::owner_all);
  EXPECT_EQ(mode(key), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(folder, fs::perms(0777));  // found open, it is closed before it is used
  EXPECT_NE(TakeFromCache(key.string()), nullptr);
  EXPECT_EQ(mode(folder), fs::perms::owner_all);
}

TEST_F(LoadTest, AFolderOfSomebodyElseOrALinkIsNoCache) {
  const std::string path = Write("big.json", "", 10, 30'000);
  (void)Load({path});
  const std::string key = CacheKey(path);
  const fs::path folder = fs::path(key).parent_path();
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder.c_str(), 12345, 12345), 0);
    EXPECT_EQ(TakeFromCache(key), nullptr);
    ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);
  }
  fs::rename(folder, folder.string() + ".elsewhere");
  fs::create_directory_symlink(folder.string() + ".elsewhere", folder);
  EXPECT_EQ(TakeFromCache(key), nullptr);
}

TEST_F(LoadTest, TheCacheIsBoundedAndTheOldestGoesFirst) {
  const std::string a = Write("a.json", "", 10, 30'000), b = Write("b.json", "", 11, 30'000);
  (void)Load({a});
  const auto size = fs::file_size(CacheKey(a));
  fs::last_write_time(CacheKey(a), fs::file_time_type::clock::now() - std::chrono::hours(1));
  setenv("GAPLESS_CACHE_BYTES", std::to_string(size * 3 / 2).c_str(), 1);
  (void)Load({b});
  EXPECT_FALSE(fs::exists(CacheKey(a)));
  EXPECT_TRUE(fs::exists(CacheKey(b)));
}

TEST_F(LoadTest, NoCacheWhenNotWantedOrSmallOrForbidden) {
  const std::string big = Write("big.json", "", 10, 30'000);
  (void)Load({big}, {.use_cache = false});
  EXPECT_FALSE(fs::exists(CacheKey(big)));
  EXPECT_EQ(CacheKey(Write("small.json", "", 10)), "");
  setenv("GAPLESS_CACHE_BYTES", "0", 1);
  EXPECT_EQ(CacheKey(big), "");
}

TEST_F(LoadTest, TracesBeyondTheBoundOfMemoryLieInFiles) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 3; ++rank)
    paths.push_back(Write("rank" + std::to_string(rank) + ".json", Distributed(rank), 10 + rank));
  setenv("GAPLESS_MEMORY_BYTES", "1", 1);
  setenv("TMPDIR", folder_.c_str(), 1);
  const auto bounded = Load(paths, {.use_cache = false, .threads = 1});
  setenv("TMPDIR", "/nowhere", 1);
  const auto unwritable = Load(paths, {.use_cache = false, .threads = 1});
  unsetenv("TMPDIR");
  unsetenv("GAPLESS_MEMORY_BYTES");
  const auto free = Load(paths, {.use_cache = false});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(bounded.run.traces()[i].trace->file != nullptr, i > 0) << "the first one stays";
    EXPECT_EQ(unwritable.run.traces()[i].trace->file, nullptr);
    EXPECT_EQ(free.run.traces()[i].trace->file, nullptr);
    EXPECT_EQ(bounded.run.traces()[i].trace->slices.size(), free.run.traces()[i].trace->slices.size());
    EXPECT_EQ(bounded.run.traces()[i].trace->info.rank, free.run.traces()[i].trace->info.rank);
  }
}

TEST_F(LoadTest, ProgressReachesTheWhole) {
  const std::string path = Write("big.json", "", 10, 60'000);
  std::atomic<uint64_t> done{0}, total{0};
  (void)Load({path}, {.use_cache = false, .progress = [&](const LoadProgress& progress) {
                        done = std::max<uint64_t>(done, progress.bytes_done);
                        total = progress.bytes_total;
                      }});
  EXPECT_EQ(done.load(), fs::file_size(path));
  EXPECT_EQ(total.load(), fs::file_size(path));
}

}  // namespace
}  // namespace gapless::internal
