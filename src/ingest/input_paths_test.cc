// SPDX-License-Identifier: Apache-2.0
// Tests ranks in names, and which files of a directory are recordings.
#include "ingest/input_paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"

namespace gapless::internal {
namespace {

TEST(RankInName, AsPeopleNameFiles) {
  EXPECT_EQ(RankInName("run/rank-34.Jul_15_10_52.pt.trace.json.gz"), 34);
  EXPECT_EQ(RankInName("graph_capture_rank_0.17737.pt.trace.json.gz"), 0);
  EXPECT_EQ(RankInName("bs_32_rank5.json"), 5);
  EXPECT_EQ(RankInName("rank3/trace.json"), kAbsent);
  EXPECT_EQ(RankInName("frankly.json"), kAbsent);
}

TEST(InputPathsOf, FindsTheRecordingsOfADirectoryAndTakesTheRankInFrontOfAFile) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "gapless-inputs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (const char* name : {"b.json", "a.json.gz", "notes.md"}) std::ofstream(StrCat(folder, "/", name)) << "x";
  const std::string paths[] = {folder, StrCat("3=", folder, "/b.json"), "missing.json"};
  const auto inputs = InputPathsOf(paths);
  ASSERT_TRUE(inputs) << inputs.error().ToString();
  ASSERT_EQ(inputs->size(), 4U);
  EXPECT_EQ((*inputs)[0].path, folder + "/a.json.gz");
  EXPECT_EQ((*inputs)[1].path, folder + "/b.json");
  EXPECT_FALSE((*inputs)[1].named);
  EXPECT_EQ((*inputs)[2].given_rank, 3);
  EXPECT_TRUE((*inputs)[2].named);
  EXPECT_EQ((*inputs)[3].path, "missing.json") << "only reading it reports that it is missing";
  fs::remove_all(folder);
}

TEST(InputPathsOf, OfTwoFilesOfOneRecordingOneIsRead) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "gapless-inputs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (const char* name :
       {"both.nsys-rep", "both.sqlite", "old.qdrep", "old.sqlite", "alone.nsys-rep", "a.xplane.pb", "b.xplane.pb",
        "b.trace.json.gz", "python-1.host.json", "python-1.speedscope.json", "own.speedscope.json"})
    std::ofstream(StrCat(folder, "/", name)) << "x";
  const std::string paths[] = {folder};
  const auto inputs = InputPathsOf(paths);
  ASSERT_TRUE(inputs) << inputs.error().ToString();
  std::vector<std::string> names;
  for (const InputPath& input : *inputs) names.push_back(fs::path(input.path).filename().string());
  EXPECT_EQ(names, (std::vector<std::string>{"a.xplane.pb", "alone.nsys-rep", "b.xplane.pb", "both.sqlite",
                                             "old.sqlite", "own.speedscope.json", "python-1.host.json"}));
  fs::remove_all(folder);
}

TEST(InputPathsOf, LinesOfJsonAreLookedIntoInAFolder) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "gapless-inputs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  fs::copy_file("tests/data/nccl_inspector.jsonl", folder + "/known.jsonl");
  std::ofstream(folder + "/data_set.jsonl") << R"({"question": "2 + 2", "answer": "4"})" << '\n';
  const std::string paths[] = {folder};
  const auto inputs = InputPathsOf(paths);
  ASSERT_TRUE(inputs) << inputs.error().ToString();
  ASSERT_EQ(inputs->size(), 1U) << "a data set is no recording, and no error either";
  EXPECT_EQ((*inputs)[0].path, folder + "/known.jsonl");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace gapless::internal
