// SPDX-License-Identifier: Apache-2.0
// Tests that pictures are well-formed whatever they are given, and that ticks are those that a person would choose.
#include "report/svg.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/strings.h"

namespace gapless::internal {
namespace {

Svg Empty() { return Svg({.width = 10, .height = 20, .kind = "k", .label = "a"}); }

std::string Written(void (*draw)(Svg&)) {
  Svg svg = Empty();
  const size_t before = Empty().Done().size() - std::string_view("</svg>\n").size();
  draw(svg);
  const std::string all = svg.Done();
  return all.substr(before, all.size() - before - std::string_view("</svg>\n").size());
}

// Takes elements from the front until one ends that is open here, and returns false at the first that is not XML: an
// end without a beginning, a value without quotes, a bare "<" or "&".
bool TakeElements(std::string_view& text, const std::string& open) {
  while (true) {
    const size_t tag = text.find('<');
    for (size_t at = text.find('&'); at < tag; at = text.find('&', at + 1)) {
      bool entity = false;
      for (const std::string_view name : {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#39;"})
        entity = entity || text.substr(at).starts_with(name);
      if (!entity) return false;
    }
    if (tag == std::string_view::npos) return open.empty();
    text.remove_prefix(tag + 1);
    if (text.starts_with("/" + open + ">")) return text.remove_prefix(open.size() + 2), !open.empty();
    const std::string name(text.substr(0, text.find_first_of(" />")));
    text.remove_prefix(name.size());
    while (text.starts_with(" ")) {
      const size_t value = text.find("=\""), end = text.find('"', value + 2);
      if (value == std::string_view::npos || end == std::string_view::npos) return false;
      if (text.substr(value, end - value).find('<') != std::string_view::npos) return false;
      text.remove_prefix(end + 1);
    }
    const bool is_whole = text.starts_with("/>");
    if (name.empty() || !(is_whole || text.starts_with(">"))) return false;
    text.remove_prefix(is_whole ? 2 : 1);
    if (!is_whole && !TakeElements(text, name)) return false;
  }
}

bool IsWellFormed(std::string_view text) { return TakeElements(text, "") && text.find('<') == std::string_view::npos; }

TEST(SvgTest, ElementsHaveTheirAttributesAndTitles) {
  EXPECT_EQ(Written([](Svg& svg) { svg.Line("g", 1, 2.25, 3.04, -0.01); }),
            "<line class=\"g\" x1=\"1\" y1=\"2.2\" x2=\"3\" y2=\"0\"/>\n");
  EXPECT_EQ(Written([](Svg& svg) { svg.Circle("p", 1, 2, 2.4, "a run"); }),
            "<circle class=\"p\" r=\"2.4\" cx=\"1\" cy=\"2\"><title>a run</title></circle>\n");
  EXPECT_EQ(Written([](Svg& svg) { svg.Text("s", "end", 1, 2, "1 < 2"); }),
            "<text class=\"s\" text-anchor=\"end\" x=\"1\" y=\"2\">1 &lt; 2</text>\n");
}

TEST(SvgTest, NoTextEndsAnElement) {
  constexpr std::string_view kHostile = "\"/></svg><script>alert('1')</script>&\x1b";
  Svg svg({.width = 10, .height = 20, .kind = "k", .label = std::string(kHostile), .details = std::string(kHostile)});
  svg.OpenGroup(1);
  svg.Element("path", {{"d", kHostile}}, kHostile, kHostile);
  svg.Rect(kHostile, 1, 2, 3, 4);
  svg.Sample("c", 1, 2, kHostile);
  svg.GridLine(1, 2, 3, kHostile);
  svg.CloseGroup();
  const std::string all = svg.Done();
  EXPECT_TRUE(IsWellFormed(all)) << all;
  EXPECT_EQ(all.find("<script"), std::string::npos) << all;
  EXPECT_EQ(all.find('\x1b'), std::string::npos) << all;
}

TEST(SvgTest, TheTestKnowsWhatIsNotWellFormed) {
  EXPECT_TRUE(IsWellFormed("<a b=\"c\"><d/>e &amp; f</a>"));
  for (const std::string_view text : {"<a>", "</a>", "<a></b>", "<a b=c/>", "<a b=\"<\"/>", "<a>&</a>", "<a/></a>"})
    EXPECT_FALSE(IsWellFormed(text)) << text;
}

TEST(SvgTest, ScreenReadersAreToldWhatItIs) {
  const std::string all =
      Svg({.width = 10, .height = 20, .kind = "k", .label = "a loss", .details = "of 3 steps"}).Done();
  EXPECT_NE(all.find("role=\"img\" aria-label=\"a loss\""), std::string::npos) << all;
  EXPECT_NE(all.find("<desc>of 3 steps</desc>"), std::string::npos) << all;
}

TEST(ScaleTest, IsLinearAndStaysFinite) {
  const Scale down{.low = 2, .high = 4, .from = 100, .to = 0};
  EXPECT_EQ(down.At(2), 100);
  EXPECT_EQ(down.At(3.5), 25);
  EXPECT_EQ((Scale{.low = 7, .high = 7, .from = 0, .to = 50}.At(7)), 25) << "one value is in the middle";
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ((Scale{.low = -kMax, .high = kMax, .from = 0, .to = 10}.At(0)), 5);
}

// The ticks of a range as they are labelled, worked out by hand.
std::string Labels(double low, double high) {
  const Ticks ticks = TicksWithin(low, high);
  std::vector<std::string> labels;
  for (const double tick : ticks.at) labels.push_back(TickText(tick, ticks.step));
  return Join(labels, " ");
}

TEST(TicksTest, AreThoseOfAPerson) {
  EXPECT_EQ(Labels(0, 1), "0.0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(Labels(0.5, 3.2), "0.5 1.0 1.5 2.0 2.5 3.0");
  EXPECT_EQ(Labels(-3, 13), "-2 0 2 4 6 8 10 12");
  EXPECT_EQ(Labels(0, 4), "0 1 2 3 4");
  EXPECT_EQ(Labels(0, 8), "0 2 4 6 8");
  EXPECT_EQ(Labels(0, 20), "0 5 10 15 20");
  EXPECT_EQ(Labels(101, 199), "120 140 160 180");
  EXPECT_EQ(Labels(12'000, 47'000), "15,000 20,000 25,000 30,000 35,000 40,000 45,000");
  EXPECT_EQ(Labels(0.0012, 0.0031), "0.0012 0.0014 0.0016 0.0018 0.0020 0.0022 0.0024 0.0026 0.0028 0.0030");
  EXPECT_EQ(Labels(0, 4e18), "0 1e+18 2e+18 3e+18 4e+18");
}

TEST(TicksTest, OfNoRangeThereAreNone) {
  constexpr double kMax = std::numeric_limits<double>::max(), kNan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{1, 1}, {2, 1}, {-kMax, kMax}, {kNan, 1}})
    EXPECT_TRUE(TicksWithin(low, high).at.empty() && TicksWithin(low, high).step == 1) << low << " to " << high;
  EXPECT_LE(TicksWithin(1e18, 1e18 + 256).at.size(), 12U) << "doubles of this size hardly have other values";
}

}  // namespace
}  // namespace gapless::internal
