// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(PageTest, NoTextEndsTheData) {
  const std::string page = FilledPage(PageWithCharts(), R"({"a": "</script><script>alert(1)</script>"})");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find(R"({"a": "\u003c/script>\u003cscript>alert(1)\u003c/script>"})"), std::string::npos);
  EXPECT_EQ(page.find("<!--data-->"), std::string::npos);
}

TEST(PageTest, WhatIsShownWithoutScriptsIsThePagesOwnUnlessGiven) {
  EXPECT_NE(FilledPage(PageWithoutCharts(), "{}").find("<noscript>This report"), std::string::npos);
  const std::string page = FilledPage(PageWithoutCharts(), "{}", "<p>here</p>");
  EXPECT_NE(page.find("<noscript><p>here</p></noscript>"), std::string::npos);
  EXPECT_EQ(page.find("This report is drawn"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
