// SPDX-License-Identifier: Apache-2.0
// Tests the text and the Markdown of `gapless optimize` for proved, unproved and empty results.
#include "report/optimize/report.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

class OptimizeReport : public ::testing::Test {
 protected:
  Optimized With(std::optional<RatioInterval> speedup, size_t pairs) const {
    Optimized result;
    result.before.step_ms = 100;
    result.accepted = result.accepted.With({.fix = FindFix("compile"), .value = "default"});
    result.speedup = speedup;
    result.pairs = pairs;
    return result;
  }
  static std::string Page(const Optimized& result) { return OptimizePage({.result = result, .command = {"train"}}); }
};

TEST_F(OptimizeReport, FasterIsSaidOfAnIntervalAboveOne) {
  const Optimized result = With(RatioInterval{.low = 1.02, .high = 1.2, .expected = 1.12}, 15);
  EXPECT_EQ(ProofText(result), "1.12× (1.02–1.20) faster with compile=default, from 15 pairs of runs");
  EXPECT_NE(Page(result).find("\"proved\": true"), std::string::npos);
}

TEST_F(OptimizeReport, AFigureFromTooFewPairsIsNoPromise) {
  const Optimized result = With(RatioInterval{.low = {}, .high = {}, .expected = 1.03}, 4);
  EXPECT_EQ(
      ProofText(result),
      "1.03× with compile=default, from 4 pairs of runs: too few to be sure of all together, --budget gives more");
  EXPECT_NE(Page(result).find("\"proved\": false"), std::string::npos);
  EXPECT_NE(OptimizeMarkdown({.result = result}).find("too few to be sure"), std::string::npos);
  EXPECT_NE(OptimizeText({.result = result}, 80).find("too few to be sure"), std::string::npos);
}

TEST_F(OptimizeReport, AnIntervalAroundOneIsNoGain) {
  const Optimized result = With(RatioInterval{.low = 0.97, .high = 1.1, .expected = 1.03}, 12);
  EXPECT_EQ(ProofText(result),
            "1.03× (0.97–1.10) with compile=default, from 12 pairs of runs: all together are not significantly faster");
  EXPECT_NE(Page(result).find("\"proved\": false"), std::string::npos);
}

TEST_F(OptimizeReport, WithoutAProofEachPlaceSaysTheSame) {
  const Optimized result = With(std::nullopt, 0);
  const std::string said = "no time was left to prove all of them together: --budget gives more";
  EXPECT_EQ(ProofText(result), said);
  EXPECT_NE(Page(result).find(said), std::string::npos);
  EXPECT_NE(OptimizeText({.result = result}, 80).find(said), std::string::npos);
  EXPECT_EQ(ProofText(Optimized{}), "no fix made the command significantly faster: it stays unchanged");
}

// A fix stayed in its own trial, and all together were not proved.
TEST_F(OptimizeReport, WithoutAProofThereIsNothingToRun) {
  Optimized result = With(RatioInterval{.low = 0.97, .high = 1.1, .expected = 1.03}, 12);
  result.decisions.push_back({.item = result.accepted.items()[0],
                              .outcome = FixOutcome::kAccepted,
                              .measured = RatioInterval{.low = 1.01, .high = 1.09, .expected = 1.05},
                              .stage = Stage{.step_ms = 95}});
  OptimizeView view{.result = result, .command = {"train"}};
  const std::string said = "nothing is proved, so there is no recipe and no patch";
  for (const std::string& page : {OptimizeText(view, 200), OptimizeMarkdown(view), OptimizePage(view)}) {
    EXPECT_NE(page.find(said), std::string::npos) << page;
    EXPECT_EQ(page.find("gapless run"), std::string::npos) << page;
    EXPECT_NE(page.find("+ compile=default, unproved"), std::string::npos) << page;
  }
  const std::string json = OptimizeJson(view);
  EXPECT_NE(json.find("\"applied\": []"), std::string::npos) << json;
  EXPECT_NE(json.find("\"outcome\": \"not_proved\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"proved\": false"), std::string::npos) << json;
  view.candidate = "optimized/candidate.json";
  const std::string again = "gapless validate -- train -- gapless run --recipe optimized/candidate.json -- train";
  EXPECT_NE(OptimizeText(view, 400).find(again), std::string::npos);
  EXPECT_NE(OptimizeJson(view).find(StrCat("\"next\": [\n    \"", again)), std::string::npos);
}

// The page of a reader without scripts, and the data of the others; neither is ended by a text.
TEST_F(OptimizeReport, ThePageHasTheTableOnceAsDataAndOnceAsText) {
  const Optimized result = With(RatioInterval{.low = 1.02, .high = 1.2, .expected = 1.12}, 15);
  const OptimizeView view{.result = result, .command = {"train", "</script><script>alert(1)</script>"}};
  const std::string page = OptimizePage(view);
  const size_t begin = page.find("<noscript>"), end = page.find("</noscript>");
  ASSERT_LT(begin, end);
  const std::string without = page.substr(begin, end - begin);
  EXPECT_NE(without.find("<td>as it is</td><td>100.0 ms</td><td>1.00×</td>"), std::string::npos) << without;
  EXPECT_NE(without.find(ProofText(result)), std::string::npos) << without;
  EXPECT_NE(page.find("\"rows\": [[\"as it is\", \"100.0 ms\", \"1.00×\"]], \"shares\": [1]"), std::string::npos);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
}

TEST_F(OptimizeReport, FasterIsNoProofOfAnotherTraining) {
  Optimized result = With(RatioInterval{.low = 1.5, .high = 1.7, .expected = 1.6}, 8);
  EXPECT_TRUE(IsProved(result));
  result.against = "they do not train the same: the losses differ";
  EXPECT_FALSE(IsProved(result));
  EXPECT_NE(ProofText(result).find("they do not train the same"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
