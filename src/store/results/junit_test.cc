// SPDX-License-Identifier: Apache-2.0
// JUnit XML as pytest, GoogleTest and ctest write it, and files that are cut or hostile.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace {

using TestLines = std::vector<std::string>;

constexpr std::string_view kJunitOfPytest = R"(<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5" time="2.100"
  timestamp="2026-01-02T03:04:05.000000+00:00" hostname="node">
<testcase classname="tests.test_speed" name="test_forward[1&lt;2]" time="0.250"><system-out>a &amp; b</system-out></testcase>
<testcase classname="tests.test_speed" name="test_wrong" time="0.100"><failure message="assert 1 == 2&#10;more">E</failure></testcase>
<testcase classname="" name="tests.test_import" time="0.000"><error message="collection failure">E</error></testcase>
<testcase classname="tests.test_speed" name="test_gpu" time="0.001"><skipped type="pytest.skip" message="no GPU">x</skipped></testcase>
<testcase classname="tests.test_speed" name="test_collate" time="1.5" /></testsuite></testsuites>)";

constexpr std::string_view kJunitOfGtest = R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" disabled="1" errors="0" time="0.3" timestamp="2026-01-02T03:04:05.000" name="AllTests">
  <testsuite name="Speed" tests="4" failures="1" disabled="1" skipped="1" errors="0" time="0.3">
    <testcase name="Fast" file="a.cc" line="3" status="run" result="completed" time="0.2" classname="Speed" />
    <testcase name="Bad" status="run" result="completed" time="0.1" classname="Speed">
      <failure message="a.cc:9&#x0A;Expected" type=""><![CDATA[a.cc:9]]></failure>
    </testcase>
    <testcase name="Off" status="notrun" result="suppressed" time="0." classname="Speed" />
    <testcase name="Left" status="run" result="skipped" time="0." classname="Speed"><skipped message="a.cc"/></testcase>
  </testsuite>
</testsuites>)";

constexpr std::string_view kJunitOfCtest = R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="Linux" tests="3" failures="1" disabled="0" skipped="1" hostname="box" time="3" timestamp="2026-01-02T03:04:05">
	<testcase name="base" classname="base" time="0.5" status="run"><properties/><system-out>ok</system-out></testcase>
	<testcase name="slow" classname="slow" time="2" status="fail"><failure message=""/><system-out>no</system-out></testcase>
	<testcase name="gone" classname="gone" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
</testsuite>)";

TestLines Values(std::string_view text) {
  const auto file = ReadResults(text, "results.xml");
  if (!file) return {file.error().ToString()};
  TestLines out;
  for (const ResultSeries& series : file->series)
    out.push_back(StrCat(series.name, " ", series.values.at(0), series.unit));
  return out;
}

TestLines Failed(std::string_view text) {
  const auto file = ReadResults(text, "results.xml");
  TestLines out;
  if (file)
    for (const FailedRuns& failed : file->failed) out.push_back(DescribeFailed(failed));
  return out;
}

TEST(JunitResults, OfPytest) {
  EXPECT_EQ(Values(kJunitOfPytest),
            (TestLines{"tests.test_speed::test_forward[1<2] 0.25s", "tests.test_speed::test_collate 1.5s"}));
  EXPECT_EQ(Failed(kJunitOfPytest), (TestLines{"the test 'tests.test_speed::test_wrong' failed (assert 1 == 2)",
                                               "the test 'tests.test_import' failed (collection failure)"}));
  const auto file = ReadResults(kJunitOfPytest, "x");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tool, "junit");
  EXPECT_EQ(file->facts.host, "node");
  EXPECT_EQ(file->series[1].short_name, "test_collate");
  EXPECT_EQ(file->series[0].higher_is_better, false);
  EXPECT_TRUE(file->is_one_run);
}

TEST(JunitResults, OfGoogleTest) {
  EXPECT_EQ(Values(kJunitOfGtest), (TestLines{"Speed::Fast 0.2s"}));
  EXPECT_EQ(Failed(kJunitOfGtest), (TestLines{"the test 'Speed::Bad' failed (a.cc:9)"}));
}

TEST(JunitResults, OfCtest) {
  EXPECT_EQ(Values(kJunitOfCtest), (TestLines{"base 0.5s"}));
  EXPECT_EQ(Failed(kJunitOfCtest), (TestLines{"the test 'slow' failed"}));
}

TEST(JunitResults, WhatFailedIsRefusedByName) {
  const TestLines all =
      Values(R"(<testsuite name="s"><testcase name="a" time="1"><error type="OSError"/></testcase></testsuite>)");
  EXPECT_NE(all[0].find("the test 'a' failed (OSError)"), std::string::npos) << all[0];
  EXPECT_NE(Values(R"(<testsuite name="s"><error message="no setup"/></testsuite>)")[0].find("'s' failed (no setup)"),
            std::string::npos);
  EXPECT_NE(Values("<testsuites/>")[0].find("hold no values"), std::string::npos);
}

TEST(JunitResults, TimesThatAreNoneAreLeftOut) {
  for (const char* time : {"", "-1", "nan", "1,000.5", "1s", "inf"})
    EXPECT_EQ(
        Values(StrCat("<testsuite><testcase name='b' time='1'/><testcase name='a' time='", time, "'/></testsuite>")),
        (TestLines{"b 1s"}))
        << time;
}

TEST(JunitResults, CutAndHostileFilesAreRefused) {
  for (size_t length = kJunitOfPytest.find("<testsuite "); length < kJunitOfPytest.size() - 1; length += 7)
    EXPECT_FALSE(ReadResults(kJunitOfPytest.substr(0, length), "cut.xml")) << length;
  const TestLines laughs =
      Values("<!DOCTYPE t [<!ENTITY a \"ha\">]><testsuite><testcase name='&a;' time='1'/></testsuite>");
  EXPECT_EQ(laughs.size(), 1U);
  EXPECT_FALSE(ReadResults("<testsuite><!DOCTYPE x></testsuite>", "x.xml"));
  EXPECT_FALSE(ReadResults("<html><body/></html>", "x.html")) << "XML of something else";
  EXPECT_FALSE(ReadResults("<testsuite><testcase name='\xFF' time='1'/></testsuite>", "x.xml"));
}

}  // namespace
}  // namespace gapless::internal
