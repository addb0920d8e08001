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

std::string IdsOf(const Diagnosis& diagnosis) {
  std::string ids;
  for (const Bottleneck& bottleneck : diagnosis.bottlenecks) ids += bottleneck.id;
  return ids;
}

class FindingsTest : public ::testing::Test {
 protected:
  gapless::internal::Run run;  // testing::Test has a Run of its own
  Tables tables{run};
};

TEST(Findings, AreThoseOfTheRulesAskedForInTheOrderOfTheDiagnosis) {
  EXPECT_EQ(IdsOf(Choose(Three(), {})), "abc");
  EXPECT_EQ(IdsOf(Choose(Three(), {.only = {"c", "a"}})), "ac");
  EXPECT_EQ(IdsOf(Choose(Three(), {.without = {"b"}})), "ac");
  EXPECT_EQ(IdsOf(Choose(Three(), {.only = {"a", "b"}, .without = {"b"}})), "a");
}

TEST_F(FindingsTest, NothingIsCostedWithoutARate) { EXPECT_FALSE(Conclude(tables, Three(), {}).cost); }

}  // namespace
}  // namespace gapless::internal
