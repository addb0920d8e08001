// SPDX-License-Identifier: Apache-2.0
#include "diagnose/findings.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

Diagnosis Three() {
  Diagnosis diagnosis;
  for (const char* id : {"a", "b", "c"}) diagnosis.bottlenecks.push_back({.id = id});
  return diagnosis;
}

std::string IdsOf(const Findings& findings) {
  std::string ids;
  for (const Bottleneck& one : findings.diagnosis.bottlenecks) ids += one.id;
  return ids;
}

class FindingsTest : public ::testing::Test {
 protected:
  gapless::internal::Run run;  // testing::Test has a Run of its own
  Tables tables{run};
};

TEST_F(FindingsTest, TheRulesAskedForInTheOrderOfTheDiagnosis) {
  EXPECT_EQ(IdsOf(Conclude(tables, Three(), {})), "abc");
  EXPECT_EQ(IdsOf(Conclude(tables, Three(), {.only = {"c", "a"}})), "ac");
  EXPECT_EQ(IdsOf(Conclude(tables, Three(), {.without = {"b"}})), "ac");
  EXPECT_EQ(IdsOf(Conclude(tables, Three(), {.only = {"a", "b"}, .without = {"b"}})), "a");
}

TEST_F(FindingsTest, TheSpeedupIsOfWhatWasChosen) {
  Diagnosis diagnosis = Three();
  diagnosis.bottlenecks[0].gain = Gain{.low = 1, .expected = 1.5, .high = 2};
  EXPECT_TRUE(Conclude(tables, diagnosis, {}).summary.estimated_speedup);
  EXPECT_FALSE(Conclude(tables, diagnosis, {.without = {"a"}}).summary.estimated_speedup);
}

TEST_F(FindingsTest, NothingIsCostedWithoutARate) { EXPECT_FALSE(Conclude(tables, Three(), {}).cost); }

}  // namespace
}  // namespace gapless::internal
