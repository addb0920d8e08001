// SPDX-License-Identifier: Apache-2.0
// JUnit XML, as pytest --junitxml, GoogleTest --gtest_output=xml and ctest --output-junit write it: the time of each
// test case, in seconds. The name of a series is "class::test", of which "test" is the short one.
//
// A test that failed, or ended by an error, measured nothing. One that was skipped or not run has no time, whatever the
// file says: pytest writes how long the skipping took.
#include <charconv>

#include "base/strings.h"
#include "store/result_reader.h"
#include "store/xml_reader.h"

namespace gapless::internal::junit_resultreader {
namespace {

constexpr std::string_view kBlank = " \t\r\n\xEF\xBB\xBF";

// The name of the first element of a text that may be XML; "" if it is none.
std::string RootOf(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos || text[first] != '<') return "";
  XmlReader xml(text.substr(first));
  const auto event = xml.Next();
  return event && *event == XmlReader::Event::kOpen ? std::string(xml.name()) : "";
}

bool Recognises(const ResultInput& input) {
  const std::string root = input.json == nullptr ? RootOf(input.text) : "";
  return root == "testsuites" || root == "testsuite";
}

// A test case that is being read.
struct TestCase {
  std::string name{}, short_name{}, why{};
  std::optional<double> seconds{};
  bool has_failed = false, was_skipped = false;
};

std::optional<double> SecondsOf(const std::string& text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0)) return std::nullopt;
  return seconds;
}

// ctest names the class as the test; a failure outside of any test has no name of its own. GoogleTest says in `result`
// and `status` what was not run.
TestCase BeginOf(const XmlReader& xml, const std::string& suite) {
  TestCase test;
  const std::string of_class = xml.Attribute("classname").value_or(""), name = xml.Attribute("name").value_or("");
  const bool has_both = !of_class.empty() && !name.empty() && of_class != name;
  test.name = has_both ? StrCat(of_class, "::", name) : !name.empty() ? name : !of_class.empty() ? of_class : suite;
  test.short_name = has_both ? name : "";
  test.seconds = SecondsOf(xml.Attribute("time").value_or(""));
  const std::string status = xml.Attribute("status").value_or(""), result = xml.Attribute("result").value_or("");
  test.was_skipped = status == "notrun" || status == "disabled" || result == "skipped" || result == "suppressed";
  test.has_failed = status == "fail";
  return test;
}

void TakeOutcome(const XmlReader& xml, TestCase& test) {
  if (xml.name() == "skipped") test.was_skipped = true;
  if (xml.name() != "failure" && xml.name() != "error") return;
  test.has_failed = true;
  if (!test.why.empty()) return;
  test.why = xml.Attribute("message").value_or("");
  if (test.why.empty()) test.why = xml.Attribute("type").value_or("");
  test.why = test.why.substr(0, test.why.find('\n'));
}

void TakeTest(TestCase test, ResultFile& file) {
  if (test.has_failed)
    file.failed.push_back({.series = test.name, .failed = 1, .all = {}, .what = "test", .why = std::move(test.why)});
  if (test.has_failed || test.was_skipped || !test.seconds) return;
  file.series.push_back({.name = std::move(test.name),
                         .unit = "s",
                         .values = {*test.seconds},
                         .unit_of_sampling = Sampling::kUnknown,
                         .higher_is_better = false,
                         .short_name = std::move(test.short_name)});
}

Result<ResultFile> Read(const ResultInput& input) {
  ResultFile file;
  file.is_one_run = true;
  XmlReader xml(input.text.substr(input.text.find_first_not_of(kBlank)));
  std::optional<TestCase> test;
  std::string suite;
  while (true) {
    GAPLESS_ASSIGN(const auto event, xml.Next());
    if (event == XmlReader::Event::kEnd) return file;
    const bool opens = event == XmlReader::Event::kOpen;
    if (xml.name() == "testcase") {
      if (!opens && test) TakeTest(std::move(*test), file);
      test = opens ? std::optional(BeginOf(xml, suite)) : std::nullopt;
    } else if (opens && test) {
      TakeOutcome(xml, *test);
    } else if (opens && xml.name() == "testsuite") {
      suite = xml.Attribute("name").value_or("");
      if (file.facts.host.empty()) file.facts.host = xml.Attribute("hostname").value_or("");
    } else if (opens && (xml.name() == "error" || xml.name() == "failure")) {
      TestCase whole{.name = suite};
      TakeOutcome(xml, whole);
      TakeTest(std::move(whole), file);
    }
  }
}

}  // namespace

RESULTREADER(junit) = {.name = "junit",
                       .help = "JUnit XML of pytest, GoogleTest and ctest: test cases",
                       .recognises = Recognises,
                       .read = Read};

}  // namespace gapless::internal::junit_resultreader
