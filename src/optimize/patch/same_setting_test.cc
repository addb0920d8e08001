// SPDX-License-Identifier: Apache-2.0
// Tests which statements set the same thing, whatever value they give it.
#include "optimize/patch/same_setting.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

// Returns true if both are statements that do nothing but set the same thing.
bool SetsTheSame(const std::string& code, const std::string& line) {
  const auto source = PythonSource::Parse(code);
  if (!source) return false;
  const auto found = SettingsLike(*source, line);
  return found.size() == 1 && found[0].statement;
}

TEST(SetsTheSame, ComparesCallsByTheirTellingName) {
  EXPECT_TRUE(SetsTheSame("torch.set_num_threads(4)", "set_num_threads(8)"));
  EXPECT_FALSE(SetsTheSame("torch.set_num_threads(4)", "torch.set_num_interop_threads(4)"));
  EXPECT_FALSE(SetsTheSame("gc.freeze()", "model.freeze()")) << "a short name may mean something else";
}

TEST(SetsTheSame, ComparesAssignmentsByTheirLastTwoNames) {
  EXPECT_TRUE(SetsTheSame("torch.backends.cudnn.benchmark = True", "cudnn.benchmark = False"));
  EXPECT_FALSE(SetsTheSame("cudnn.benchmark = True", "cudnn.enabled = True"));
}

TEST(SetsTheSame, KnowsCallsAndAssignmentsAlone) {
  EXPECT_FALSE(SetsTheSame("set_threads(1)", "set_threads = 1"));
  EXPECT_FALSE(SetsTheSame("a.b == 1", "a.b == 1"));
  EXPECT_FALSE(SetsTheSame("for x in y: f(x)", "for x in y: f(x)"));
}

}  // namespace
}  // namespace gapless::internal
