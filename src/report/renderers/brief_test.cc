// SPDX-License-Identifier: Apache-2.0
// The text to paste is short whatever the recording holds, of one line a fact, and numbered as the other forms are.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "report/renderer.h"

namespace gapless::internal {
namespace {

struct Briefed {
  Run run{};
  Tables tables{run};
  Diagnosis diagnosis{};
  RunSummary summary{};

  std::string Text() { return FindRenderer("brief")->render(Report{run, tables, diagnosis, summary, {}}, {}); }
};

Bottleneck Finding(std::string id, std::string title) {
  Bottleneck found{.id = std::move(id), .severity = 0.8, .title = std::move(title)};
  found.gain = Gain{.low = 1.1, .expected = 1.2, .high = 1.3};
  found.recommendations = {{"do this", "amp", "first line\nsecond line", "minutes"}};
  return found;
}

TEST(Brief, AFindingSaysWhereWhatToTryAndWhatItBrings) {
  Briefed brief;
  Bottleneck found = Finding("small_batch", "a title");
  found.evidence = {{.text = "seen here", .source = "train.py:7"}, {.text = "and there", .source = "train.py:7"}};
  brief.diagnosis.bottlenecks = {found};
  const std::string text = brief.Text();
  for (const char* part :
       {"\n1. a title  [small_batch, critical]\n", "\n   where   train.py:7\n", "shown   seen here\n",
        "try     do this\n               first line\n               second line\n",
        "speedup 1.20× (1.10–1.30) of a step", "gapless optimize --only amp -- COMMAND"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Brief, ItsNumbersAreThoseOfThePlan) {
  Briefed brief;
  brief.diagnosis.bottlenecks = {Finding("one", "first"), Finding("two", "second"), Finding("three", "third")};
  brief.diagnosis.bottlenecks[1].cured_by = "one";
  brief.diagnosis.bottlenecks[1].gain.reset();
  const std::string text = brief.Text();
  EXPECT_NE(text.find("\n1. first"), std::string::npos);
  EXPECT_NE(text.find("\n-  second"), std::string::npos);
  EXPECT_NE(text.find("speedup part of the gain of one"), std::string::npos);
  EXPECT_NE(text.find("\n2. third"), std::string::npos);
}

TEST(Brief, ItStaysShort) {
  Briefed brief;
  for (int i = 0; i < 100; ++i) {
    Bottleneck found = Finding(StrCat("rule", i), std::string(100'000, 't'));
    found.evidence.assign(50, {.text = std::string(100'000, 'e'), .source = std::string(1000, 's')});
    brief.diagnosis.bottlenecks.push_back(found);
  }
  const std::string text = brief.Text();
  EXPECT_LT(text.size(), 16'000U) << "4,000 tokens of four letters";
  EXPECT_NE(text.find("92 smaller findings left out"), std::string::npos);
}

TEST(Brief, NothingOfARecordingBreaksALine) {
  Briefed brief;
  brief.diagnosis.bottlenecks = {Finding("one", "bad\n2. \x1b[31mtitle")};
  const std::string text = brief.Text();
  EXPECT_EQ(text.find("\n2. "), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
