// SPDX-License-Identifier: Apache-2.0
// Tests that paths of all systems are found in texts, and that other texts have none.
#include "ingest/path_texts.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace gapless::internal {
namespace {

std::string PathsOf(std::string_view text) {
  std::string out;
  for (const PathInText& path : PathsIn(text))
    out += StrCat(out.empty() ? "" : " | ", text.substr(path.begin, path.end - path.begin),
                  path.line > 0 ? StrCat(" @", path.line) : "");
  return out;
}

TEST(PathTexts, FramesHaveTheirLine) {
  EXPECT_EQ(PathsOf("/a/b c.py(12): f;d.py(3): <module>"), "/a/b c.py @12 | d.py @3");
  EXPECT_EQ(PathsOf("C:\\Users\\Jane Doe\\net.py:7"), "C:\\Users\\Jane Doe\\net.py @7");
  EXPECT_EQ(PathsOf("<built-in method mm of type object at 0x7f>"), "");
}

TEST(PathTexts, PathsOfAnyText) {
  EXPECT_EQ(PathsOf("python ~/net/run.py --data=/mnt/x --out \"D:/runs/1\""), "~/net/run.py | /mnt/x | D:/runs/1");
  EXPECT_EQ(PathsOf("{\"checkpoint\": \"model-3.safetensors\"}"), "model-3.safetensors");
  EXPECT_EQ(PathsOf("loaded from \\\\server\\share\\x."), "\\\\server\\share\\x");
}

TEST(PathTexts, NamesAreNoPaths) {
  for (const std::string_view text :
       {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)", "forward/loss",
        "operator/(float const&, float const&)", "ProfilerStep#4", "nccl:all_reduce", "12.5 GB/s",
        "layers.3.self_attn"})
    EXPECT_EQ(PathsOf(text), "") << text;
}

TEST(PathTexts, RowsKeepTheirTexts) {
  Trace trace;
  const StringId a = trace.strings.Intern("a"), b = trace.strings.Intern("b");
  ChangeTexts(trace, [](std::string_view text) { return text == "a" ? std::string("x") : std::string(text); });
  EXPECT_EQ(trace.Text(a), "x");
  EXPECT_EQ(trace.Text(b), "b");
  EXPECT_EQ(trace.strings.Intern("c"), StringId{3});
}

}  // namespace
}  // namespace gapless::internal
