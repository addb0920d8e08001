// SPDX-License-Identifier: Apache-2.0
// Tests the parsing of changes from the agent, including those of a newer agent.
#include "optimize/change.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(Change, IsReadFromTheAgentsRecord) {
  const auto change = ParseChange(
      R"({"fix": "workers", "value": "4", "what": "DataLoader: num_workers 0 → 4", "later": {},
          "edit": {"kind": "keywords", "file": "/a/train.py", "line": 41, "call": "DataLoader",
                   "set": {"num_workers": "4", "persistent_workers": true, "prefetch_factor": 4}, "imports": ["import os"]}})",
      1);
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->fix, "workers");
  EXPECT_EQ(change->value, "4");
  EXPECT_EQ(change->state, ChangeState::kOn);
  EXPECT_EQ(change->edit.kind, EditKind::kKeywords);
  EXPECT_EQ(change->edit.line, 41);
  using Set = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(change->edit.set, (Set{{"num_workers", "4"}, {"persistent_workers", "True"}, {"prefetch_factor", "4"}}));
  EXPECT_EQ(change->edit.imports, std::vector<std::string>{"import os"});
}

TEST(Change, MayReplaceLines) {
  const auto change = ParseChange(
      R"({"fix": "vmap", "edit": {"kind": "replace", "file": "/a.py", "line": 3, "last": 6, "lines": ["x = 1"]}})", 1);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->edit.kind, EditKind::kReplace);
  EXPECT_EQ(change->edit.line, 3);
  EXPECT_EQ(change->edit.last, 6);
}

TEST(Change, MayHaveEditsThatBelongTogether) {
  const std::string text =
      R"({"fix": "accumulate", "edit": {"kind": "before", "file": "/a.py", "line": 3, "lines": ["n = 0"], "more": [)"
      R"({"kind": "replace", "file": "/a.py", "line": 5, "last": 5, "lines": ["n += 1"]}]}})";
  const auto change = ParseChange(text, 1);
  ASSERT_TRUE(change);
  ASSERT_EQ(change->edit.more.size(), 1U);
  EXPECT_EQ(change->edit.more[0].line, 5);
  EXPECT_EQ(ToJson(*ParseChange(ToJson(*change), 1)), ToJson(*change));
  // One that is not understood, or of another file, leaves no edit at all.
  for (const auto& [from, to] :
       {std::pair{"replace", "rewrite"}, {"\"/a.py\", \"line\": 5", "\"/b.py\", \"line\": 5"}}) {
    std::string other = text;
    other.replace(other.find(from), std::string_view(from).size(), to);
    EXPECT_EQ(ParseChange(other, 1)->edit.kind, EditKind::kNone) << other;
  }
}

TEST(Change, ThatWasRefusedHasItsReason) {
  const auto change = ParseChange(R"({"fix": "tf32", "value": "", "what": "there is no CUDA"})", 2);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->state, ChangeState::kRefused);
  EXPECT_EQ(change->what, "there is no CUDA");
  EXPECT_EQ(change->edit.kind, EditKind::kNone);
}

TEST(Change, OfAFutureAgentIsOneWithoutAnEdit) {
  EXPECT_EQ(ParseChange(R"({"fix": "x", "edit": {"kind": "rewrite", "file": "a.py"}})", 1)->edit.kind, EditKind::kNone);
  EXPECT_EQ(ParseChange(R"({"fix": "x", "edit": 4})", 1)->edit.kind, EditKind::kNone);
  EXPECT_EQ(ParseChange(R"({"fix": "x", "edit": {"kind": "before", "line": -5}})", 1)->edit.line, 0);
}

TEST(Change, ThatCannotBeReadIsAnError) {
  for (const char* text : {"", "x", "[]", "{}", R"({"fix": 1})", R"({"fix": "a")", "gc_freeze: 4 objects are left out"})
    EXPECT_FALSE(ParseChange(text, 1)) << text;
  for (const int value : {-1, 3}) EXPECT_FALSE(ParseChange(R"({"fix": "a"})", value)) << value;
}

}  // namespace
}  // namespace gapless::internal
