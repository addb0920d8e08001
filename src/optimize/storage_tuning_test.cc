// SPDX-License-Identifier: Apache-2.0
// Tests notes of agents and documents of rounds whose answer is known, and the model of a step against a loader that is
// followed batch by batch.
#include "optimize/storage_tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

// The duration of a step after many: `workers` load batches one after the other while the program computes, at most two
// each ahead; without workers the program loads them itself.
double FollowLoader(double load, double compute, int workers, double* waited) {
  constexpr int kSteps = 4000, kAhead = 2;
  std::vector<double> ready(kSteps), done(kSteps);
  double now = 0, wait = 0;
  for (int step = 0; step < kSteps; ++step) {
    double there = now + load;
    if (workers > 0) {
      const double free = step >= workers ? ready[static_cast<size_t>(step - workers)] : 0;
      const int slot = step - kAhead * workers;
      there = std::max(free, slot >= 0 ? done[static_cast<size_t>(slot)] : 0) + load;
    }
    ready[static_cast<size_t>(step)] = there;
    wait += std::max(0.0, there - now);
    now = std::max(now, there) + compute;
    done[static_cast<size_t>(step)] = now;
  }
  *waited = wait / now;
  return now / kSteps;
}

TEST(StorageStep, GainIsThatOfALoaderThatIsFollowed) {
  for (const int workers : {0, 1, 3})
    for (const double load : {0.5, 2.0, 9.0})
      for (const double saving : {0.1, 0.5, 0.9}) {
        double waited = 0, ignored = 0;
        const double before = FollowLoader(load, 1, workers, &waited);
        const double after = FollowLoader(load * (1 - saving), 1, workers, &ignored);
        const double gain = StepGain(waited, workers, saving);
        // A loader that keeps up has a share to wait of 0, but for the first batch.
        EXPECT_NEAR(gain, before / after, 0.01) << workers << " workers, load " << load << ", saving " << saving;
      }
}

TEST(StorageStep, GainIsFinite) {
  EXPECT_LE(StepGain(1, 0, 1), 1000);
  EXPECT_EQ(StepGain(0, 2, 0.5), 1);
  EXPECT_EQ(StepGain(0.5, 0, -1), 1);
}

class StorageNotes : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(StrCat(folder_.path(), "/", name)) << text;
  }
  TemporaryFolder folder_ = *TemporaryFolder::Make();
};

TEST_F(StorageNotes, MeansOfAllProcesses) {
  const std::string counts = R"({"python":"/python","seen":2,"parts":0,"without_files":0,"too_large":0})";
  Write(
      "samples-1.jsonl",
      StrCat(R"({"samples":1,"total_ns":100,"read_ns":10,"decode_ns":60,"rest_ns":30,"decoders":{"PIL":50,"json":20},)",
             R"("storage_bytes":50,"files":[{"path":"/a","bytes":100},{"path":"/b","bytes":100}]})", "\n", counts,
             "\n"));
  Write("samples-2.jsonl",
        StrCat(R"({"samples":1,"total_ns":300,"read_ns":30,"decode_ns":80,"rest_ns":190,"decoders":{"PIL":1},)",
               R"("storage_bytes":900,"files":[{"path":"/b","bytes":100}]})", "\n", counts, "\n{\"torn"));
  const auto samples = ReadSamples(folder_.path());
  ASSERT_TRUE(samples) << samples.error().message;
  const SampleCost& cost = samples->cost;
  EXPECT_EQ(samples->python, "/python");
  EXPECT_EQ(samples->files, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(cost.samples, 2);
  EXPECT_EQ(cost.total_ns, 200);
  EXPECT_EQ(cost.read_ns + cost.decode_ns + cost.rest_ns, cost.total_ns);
  EXPECT_EQ(cost.decode_ns, 70);
  EXPECT_EQ(cost.file_bytes, 150);
  EXPECT_EQ(cost.opened, 1.5);
  EXPECT_EQ(cost.decoder, "PIL");
  EXPECT_DOUBLE_EQ(*cost.storage_share, 150.0 / 300);  // more came than its file has
}

TEST_F(StorageNotes, SaysWhyThereIsNothing) {
  EXPECT_NE(ReadSamples(folder_.path()).error().message.find("reads no samples"), std::string::npos);
  Write("samples-1.jsonl", R"({"python":"p","seen":0,"dataset":"Web","iterable":true})");
  EXPECT_NE(ReadSamples(folder_.path()).error().message.find("Web is a stream"), std::string::npos);
  Write("samples-1.jsonl", R"({"python":"p","seen":9,"without_files":9})");
  EXPECT_NE(ReadSamples(folder_.path()).error().message.find("of 9 samples none opened"), std::string::npos);
  Write("samples-2.jsonl", R"({"python":"p","seen":4,"parts":4})");
  EXPECT_NE(ReadSamples(folder_.path()).error().message.find("4 samples read small parts"), std::string::npos);
}

// A document with files at 100 µs and three ways: twice as fast, as fast, and not there.
std::string RoundsText(std::string_view cold_share) {
  std::string rounds;
  for (int round = 0; round < 12; ++round)
    rounds += StrCat(round == 0 ? "" : ",", R"({"0":)", 100 + round % 3, R"(,"1":)", 400 + round % 5, R"(,"2":)",
                     50 + round % 2, R"(,"4":)", 1000 + round, R"(,"5":)", 250 + round % 4, "}");
  return StrCat(R"({"files":7,"bytes":70,"images":3,"arms":[{"name":"files","kind":"read","cold":false,"why_not":""},)",
                R"({"name":"files","kind":"read","cold":true,"why_not":"","from_storage_share":)", cold_share,
                R"(},{"name":"tmpfs","kind":"read","cold":false,"why_not":""},)",
                R"({"name":"lmdb","kind":"read","cold":false,"why_not":"the package lmdb cannot be imported"},)",
                R"({"name":"PIL","kind":"decode","cold":false,"why_not":"","largest_difference":0},)",
                R"({"name":"cv2","kind":"decode","cold":false,"why_not":"","largest_difference":2}],"rounds":[)",
                rounds, "]}");
}

StorageTuning TuningOf(double storage_share) {
  StorageTuning tuning;
  tuning.cost = {.total_ns = 1000, .read_ns = 200, .decode_ns = 500, .rest_ns = 300};
  tuning.cost.storage_share = storage_share;
  tuning.cost.decoder = "PIL";
  tuning.wait_share = 0.5;
  return tuning;
}

TEST(StorageJudge, FilesOfThePageCache) {
  StorageTuning tuning = TuningOf(0);
  ASSERT_TRUE(JudgeStorage(RoundsText("1.0"), {}, tuning));
  ASSERT_EQ(tuning.arms.size(), 6);
  EXPECT_EQ(tuning.rounds, 12);
  const StorageArm& memory = tuning.arms[2];
  EXPECT_NEAR(memory.speedup->expected, 2, 0.05);
  EXPECT_NEAR(memory.cold_speedup->expected, 8, 0.2);
  EXPECT_EQ(memory.verdict, SpeedVerdict::kFaster);
  EXPECT_NEAR(*memory.sample_saving, 0.2 / 2, 0.005);  // half of the time to read
  EXPECT_NEAR(*memory.most_step_speedup, 1 / (1 - 0.5 * 0.1), 0.005);
  EXPECT_EQ(tuning.best_store, 2);
  EXPECT_FALSE(tuning.arms[0].speedup);
  EXPECT_FALSE(tuning.arms[3].speedup);
  EXPECT_EQ(tuning.arms[3].rounds, 0);
  EXPECT_EQ(tuning.best_decoder, 5);
  EXPECT_NEAR(*tuning.arms[5].sample_saving, 0.5 * 0.75, 0.01);
  EXPECT_EQ(tuning.arms[5].largest_difference, 2);
}

TEST(StorageJudge, FilesFromStorage) {
  StorageTuning tuning = TuningOf(0.9);
  ASSERT_TRUE(JudgeStorage(RoundsText("1.0"), {}, tuning));
  EXPECT_TRUE(tuning.IsCold());
  EXPECT_EQ(tuning.best_store, 2);  // not the page cache
  EXPECT_NEAR(*tuning.arms[2].sample_saving, 0.2 * 7 / 8, 0.005);
  EXPECT_NEAR(*tuning.arms[0].sample_saving, 0.2 * 3 / 4, 0.005);
}

TEST(StorageJudge, AnotherDecoderOfTheProgram) {
  StorageTuning tuning = TuningOf(0);
  tuning.cost.decoder = "imageio";
  ASSERT_TRUE(JudgeStorage(RoundsText("1.0"), {}, tuning));
  EXPECT_NEAR(tuning.arms[5].speedup->expected, 4, 0.1);
  EXPECT_FALSE(tuning.arms[5].sample_saving);
}

TEST(StorageJudge, NoDocument) {
  StorageTuning tuning;
  EXPECT_FALSE(JudgeStorage("", {}, tuning));
  EXPECT_FALSE(JudgeStorage("{}", {}, tuning));
}

}  // namespace
}  // namespace gapless::internal
