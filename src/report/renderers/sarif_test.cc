// SPDX-License-Identifier: Apache-2.0
// Findings stand at their lines, in the form that viewers of SARIF accept, wherever the recording was made.
#include "report/sarif.h"

#include <gtest/gtest.h>

#include "base/json_value.h"
#include "base/strings.h"
#include "report/renderer.h"

namespace gapless::internal {
namespace {

struct Found {
  Run run{};
  Tables tables{run};
  Diagnosis diagnosis{};
  RunSummary summary{};

  std::string Text() { return FindRenderer("sarif")->render(Report{run, tables, diagnosis, summary, {}}, {}); }
};

Bottleneck DataWait() {
  Bottleneck found{
      .id = "data_loading", .severity = 0.8, .title = "waiting for data", .description = "The step waits."};
  found.evidence = {{.text = "seen here", .source = "/home/me/net/train.py:7"},
                    {.text = "again", .source = "/home/me/net/train.py:7"},
                    {.text = "and there", .source = "load() (data set.py)"},
                    {.text = "without a place"}};
  found.recommendations = {{"set workers", "workers", "first line\nsecond line", "minutes"}};
  return found;
}

TEST(SarifRenderer, AFindingStandsAtEachOfItsSourcesOnce) {
  Found found;
  found.diagnosis.bottlenecks = {DataWait()};
  const std::string text = found.Text();
  const auto count = [&text](std::string_view part) {
    size_t times = 0;
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
    return times;
  };
  EXPECT_EQ(count("\"uri\": \"file:///home/me/net/train.py\""), 1u) << text;
  EXPECT_EQ(count("\"startLine\": 7"), 1u);
  EXPECT_EQ(count("\"uri\": \"data%20set.py\""), 1u);
  EXPECT_EQ(count("\"region\""), 1u) << "a file whose line is not known has no region";
  EXPECT_EQ(count("\"level\": \"error\""), 1u);
  EXPECT_NE(text.find("waiting for data\\nThe step waits.\\nseen here\\nTry: set workers\\nfirst line\\nsecond line"),
            std::string::npos)
      << text;
  EXPECT_EQ(count("\"id\": \"data_loading\""), 1u) << "only the rules that found something are described";
}

// Code hosts recognise a finding of an earlier commit by it.
TEST(SarifRenderer, ALineThatMovedIsTheSameFinding) {
  const auto fingerprint_of = [](std::string source) {
    Found found;
    found.diagnosis.bottlenecks = {DataWait()};
    found.diagnosis.bottlenecks[0].evidence = {{.text = "x", .source = std::move(source)}};
    const std::string text = found.Text();
    const size_t at = text.find("gapless/v1");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(fingerprint_of("train.py:7"), fingerprint_of("train.py:9"));
  EXPECT_NE(fingerprint_of("train.py:7"), fingerprint_of("load.py:7"));
}

TEST(SarifRenderer, NoFindingIsADocumentWithoutResults) {
  Found found;
  EXPECT_NE(found.Text().find("\"results\": []"), std::string::npos);
}

TEST(Sarif, PathsBecomeUris) {
  EXPECT_EQ(sarif::UriOf("net/train.py"), "net/train.py");
  EXPECT_EQ(sarif::UriOf("/srv/a b#1/ü.py"), "file:///srv/a%20b%231/%C3%BC.py");
  EXPECT_EQ(sarif::UriOf("C:\\net\\train.py"), "file:///C:/net/train.py");
  EXPECT_EQ(sarif::UriOf("\\\\host\\share\\train.py"), "file://host/share/train.py");
  EXPECT_EQ(sarif::UriOf("odd:name.py"), "odd%3Aname.py") << "not a scheme";
  EXPECT_EQ(sarif::UriOf("a/odd:name%.py"), "a/odd:name%25.py");
}

}  // namespace
}  // namespace gapless::internal
