// SPDX-License-Identifier: Apache-2.0
// Events within another object, and files of other programs in the same form of JSON.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kEvents =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":100,"dur":50},
       {"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":120,"dur":30,"args":{"device":0,"stream":7}})";

Result<Trace> Read(std::string json) {
  ThreadPool pool(2);
  MemorySource source(std::move(json));
  return ReadTrace(source, {.pool = pool});
}

bool HasNote(const Trace& trace, std::string_view kind) {
  for (const StringId of : trace.read_stats.kind)
    if (trace.Text(of) == kind) return true;
  return false;
}

TEST(KinetoForeign, EventsMayLieInAnotherObject) {
  const std::string events = StrCat("\"traceEvents\": [", kEvents, "]");
  const std::string around =
      R"({"metadata": {"tool": "wrapper"}, "trace": {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A100"}], )";
  const auto trace = Read(around + events + R"(, "distributedInfo": {"rank": 3}}, "more": [{"}": 1}]})");
  ASSERT_TRUE(trace) << trace.error().ToString();
  EXPECT_EQ(trace->slices.size(), 1U);
  EXPECT_EQ(trace->gpu_ops.size(), 1U);
  EXPECT_EQ(trace->info.rank, 3);
  EXPECT_EQ(trace->devices.size(), 1U);
  EXPECT_FALSE(HasNote(*trace, "unreadable_metadata"));
  const auto in_a_list = Read(R"({"runs": [{"name": "a", )" + events + "}]}");
  ASSERT_TRUE(in_a_list) << in_a_list.error().ToString();
  EXPECT_EQ(in_a_list->gpu_ops.size(), 1U);
}

// Files of other programs are named, not analysed: what they hold would look like a program that uses no GPU.
TEST(KinetoForeign, FilesOfOtherProgramsAreRefusedByName) {
  const auto named = [](std::string_view process) {
    return StrCat(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":")", process, "\"}}");
  };
  const std::string call = R"({"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":2)";
  const std::pair<std::string, std::string_view> files[] = {
      {"[]", "no event"},
      {R"({"traceEvents": []})", "no event"},
      {R"({"rocprofiler-sdk-tool": [{"metadata": {}}]})", "rocprofv3"},
      {R"({"schema": "1.1.1", "pid": 1, "nodes": [{"id": 1}]})", "execution trace"},
      {"[" + call + R"(,"cat":"Op"}])", "TensorFlow timeline"},
      {"[" + call + R"(,"args":{"BeginNs":"1"}}])", "rocprof"},
      {"[" + named("CrBrowserMain") + "," + call + R"(,"cat":"toplevel"}])", "Chromium"},
      {R"({"metadata": {"trace-config": ""}, "traceEvents": [)" + call + R"(,"cat":"toplevel"}]})", "Chromium"},
      {"[" + call + R"(,"cat":"FEE"}])", "VizTracer"},
      {"[" + call + R"(,"cat":"mine"}])", "\"mine\""},
      {R"({"schemaVersion": 1, "traceEvents": [)" + call + R"(,"cat":"Line 21"}]})", "\"Line 21\""},
  };
  for (const auto& [json, name] : files) {
    const auto trace = Read(json);
    ASSERT_FALSE(trace) << json;
    EXPECT_EQ(trace.error().code, ErrorCode::kInput);
    EXPECT_NE(trace.error().message.find(name), std::string::npos) << trace.error().message;
  }
}

TEST(KinetoForeign, TheErrorSaysWhatWasLookedForAndBeginEventsShowWhoseTheyAre) {
  const auto refused = Read(R"([{"ph":"B","cat":"mine","name":"f","pid":1,"tid":1,"ts":1}])");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().hint.find("looked for"), std::string::npos);
  EXPECT_TRUE(Read(R"([{"ph":"B","cat":"cpu_op","name":"f","pid":1,"tid":1,"ts":1}])"));
}

TEST(KinetoForeign, ARecorderThatRecordedNothingIsNoOtherProgram) {
  EXPECT_TRUE(Read(R"({"schemaVersion": 1, "traceEvents": []})"));
  EXPECT_TRUE(Read(R"({"deviceProperties": [], "traceEvents": []})"));
  EXPECT_TRUE(Read(R"({"traceEvents": [], "traceName": "x.json"})"));
}

}  // namespace
}  // namespace gapless::internal
