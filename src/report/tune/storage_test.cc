// SPDX-License-Identifier: Apache-2.0
// The text of `gapless tune storage`: it fits a terminal, and says what helps.
#include "report/tune/storage.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace gapless::internal {
namespace {

StorageTuning SlowDecoder() {
  StorageTuning tuning{.cost = {.total_ns = 4e6, .read_ns = 4e4, .decode_ns = 3e6, .rest_ns = 0.96e6, .samples = 96},
                       .step_ms = 50,
                       .wait_share = 0.5};
  tuning.cost.files = tuning.files = tuning.images = 96, tuning.cost.opened = 1, tuning.rounds = 12;
  tuning.cost.decoder = "PIL";
  tuning.arms.push_back({.name = "files", .file_ns = 4e4, .rounds = 12});
  tuning.arms.push_back({.name = "lmdb", .why_not = "the package lmdb cannot be imported"});
  tuning.arms.push_back({.name = "PIL", .decodes = true, .file_ns = 3e6, .rounds = 12, .largest_difference = 0});
  tuning.arms.push_back({.name = "simplejpeg",
                         .decodes = true,
                         .file_ns = 2e6,
                         .rounds = 12,
                         .speedup = RatioInterval{.low = 1.4, .high = 1.6, .expected = 1.5},
                         .verdict = SpeedVerdict::kFaster,
                         .largest_difference = 2,
                         .sample_saving = 0.25});
  tuning.best_decoder = 3;
  return tuning;
}

TEST(StorageTextTest, NamesTheDecoderThatHelpsWithin80Columns) {
  const std::string text = StorageText(SlowDecoder(), {"python", "train.py"}, 80);
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 80) << line;
  EXPECT_NE(text.find("\nreading is 1.0 % of a sample: no other storage saves more than that\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\ndecoding (PIL) is 75.0 % of a sample: simplejpeg decodes 1.50× (1.40–1.60)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nthe rest is 24.0 % of a sample\n"), std::string::npos) << text;
  EXPECT_NE(text.find("the package lmdb cannot be imported"), std::string::npos) << text;
}

// Loading takes half of a step without workers, and a quarter less of it then: a step takes seven eighths.
TEST(StorageTextTest, SaysWhatStepsGainAtMost) {
  const std::string text = StorageText(SlowDecoder(), {"python"}, 200);
  EXPECT_NE(text.find("they are at most 1.14× as fast"), std::string::npos) << text;
}

}  // namespace
}  // namespace gapless::internal
