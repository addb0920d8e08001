// SPDX-License-Identifier: Apache-2.0
// Tests that a Kineto trace gets shapes and types from the execution trace of the same run, and of no other. PyTorch
// wrote tests/data/execution_trace: two passes of a linear layer on the CPU, recorded without shapes.
#include "ingest/execution_traces.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/readers/kineto/execution_trace.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRecording = "tests/data/execution_trace/run.pt.trace.json";
constexpr const char* kOperators = "tests/data/execution_trace/run_et.json";

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

class ExecutionTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / "gapless-et-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    recording_ = Content(kRecording), operators_ = Content(kOperators);
    ASSERT_FALSE(recording_.empty() || operators_.empty()) << "run from the project's folder";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  static std::shared_ptr<const Trace> Only(std::span<const std::string> paths) {
    const auto loaded = LoadRun(paths);
    EXPECT_TRUE(loaded) << loaded.error().ToString();
    if (!loaded) return std::make_shared<const Trace>();
    EXPECT_TRUE(loaded->failures.empty());
    EXPECT_EQ(loaded->run.traces().size(), 1U);
    return loaded->run.traces()[0].trace;
  }
  static std::string ShapesOf(const Trace& trace, std::string_view name) {
    for (size_t row = 0; row < trace.slices.size(); ++row)
      if (trace.Text(trace.slices.name[row]) == name) return std::string(trace.Text(trace.slices.input_shapes[row]));
    return "no such operator";
  }
  static std::string Said(const Trace& trace, std::string_view kind) {
    for (size_t i = 0; i < trace.read_stats.size(); ++i)
      if (trace.Text(trace.read_stats.kind[i]) == kind)
        return StrCat(trace.read_stats.count[i], " ", trace.Text(trace.read_stats.text[i]));
    return "";
  }
  std::string folder_, recording_, operators_;
};

TEST_F(ExecutionTraces, OneInTheFolderGivesShapesTypesAndValues) {
  const std::string paths[] = {"tests/data/execution_trace"};
  const auto kept = Only(paths);
  const Trace& trace = *kept;
  EXPECT_EQ(ShapesOf(trace, "aten::addmm"), "[[32], [4, 16], [16, 32], [], []]");
  EXPECT_EQ(ShapesOf(trace, "aten::cat"), "[[[4, 32], [4, 32]], []]");
  for (size_t row = 0; row < trace.slices.size(); ++row) {
    const std::string_view name = trace.Text(trace.slices.name[row]);
    if (name == "aten::addmm") {
      EXPECT_EQ(trace.Text(trace.slices.input_types[row]), R"(["float", "float", "float", "Scalar", "Scalar"])");
      EXPECT_EQ(trace.Text(trace.slices.concrete_inputs[row]), R"(["", "", "", "1", "1"])");
    }
    if (name == "aten::cat") {
      EXPECT_EQ(trace.Text(trace.slices.input_types[row]), R"(["TensorList", "Scalar"])");
    }
  }
  EXPECT_TRUE(
      Said(trace, "execution_trace").ends_with("run_et.json, which gave those without shapes and types theirs"));
  EXPECT_EQ(Said(trace, "other_execution_trace"), "");
}

TEST_F(ExecutionTraces, ThoseThatAreNamedMayLieElsewhere) {
  const std::string alone[] = {Write("a/run.json", recording_)};
  EXPECT_EQ(ShapesOf(*Only(alone), "aten::addmm"), "");
  const std::string both[] = {alone[0], Write("b/graph.json", operators_)};
  EXPECT_EQ(ShapesOf(*Only(both), "aten::addmm"), "[[32], [4, 16], [16, 32], [], []]");
}

TEST_F(ExecutionTraces, ANameBesideTheRecordingIsEnough) {
  Write("pytorch_et_0.json", operators_), Write("letter.json", "{}");
  const std::string paths[] = {Write("run.json", recording_)};
  EXPECT_EQ(ShapesOf(*Only(paths), "aten::addmm"), "[[32], [4, 16], [16, 32], [], []]");
}

TEST_F(ExecutionTraces, AnotherProcessIsNotTheSameRun) {
  const size_t at = operators_.find("\"pid\": ") + 7;
  Write("run_et.json", operators_.substr(0, at) + "1" + operators_.substr(at));
  const std::string paths[] = {Write("run.json", recording_)};
  const auto kept = Only(paths);
  const Trace& trace = *kept;
  EXPECT_EQ(ShapesOf(trace, "aten::addmm"), "");
  EXPECT_NE(Said(trace, "other_execution_trace").find("which is not in this recording; it is of another run"),
            std::string::npos)
      << Said(trace, "other_execution_trace");
}

// The numbers of the same calls are those of others: what one name in ten gave by chance is taken back.
TEST_F(ExecutionTraces, OperatorsOfOtherNamesAreNotTheSameRun) {
  std::string others = Replaced(operators_, "aten::linear", "aten::conv2d");
  for (const std::string_view name : {"aten::relu", "aten::t\"", "aten::transpose", "aten::cat", "aten::expand"})
    others = Replaced(others, name, StrCat("aten::x", name.substr(6)));
  Write("run_et.json", others);
  const std::string paths[] = {Write("run.json", recording_)};
  const auto kept = Only(paths);
  const Trace& trace = *kept;
  EXPECT_EQ(ShapesOf(trace, "aten::addmm"), "") << "its name agrees, and it is taken back with the others";
  EXPECT_NE(Said(trace, "other_execution_trace").find("have another name; it is of another run"), std::string::npos)
      << Said(trace, "other_execution_trace");
  EXPECT_EQ(Said(trace, "execution_trace"), "");
}

TEST_F(ExecutionTraces, OfOneThatWasCutOffTheFirstOperatorsCount) {
  Write("run_et.json", operators_.substr(0, operators_.size() / 2));
  const std::string paths[] = {Write("run.json", recording_)};
  const auto kept = Only(paths);
  const Trace& trace = *kept;
  EXPECT_NE(ShapesOf(trace, "aten::addmm"), "");
  EXPECT_TRUE(Said(trace, "execution_trace_cut").starts_with("1 ")) << Said(trace, "execution_trace_cut");
  EXPECT_NE(Said(trace, "execution_trace_without"), "");
}

TEST_F(ExecutionTraces, AloneItIsNoRecording) {
  const std::string paths[] = {Write("run_et.json", operators_)};
  const auto loaded = LoadRun(paths);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("execution trace"), std::string::npos);
  EXPECT_NE(loaded.error().hint.find("beside"), std::string::npos);
}

TEST_F(ExecutionTraces, OfSeveralRanksEachGetsItsOwn) {
  const size_t at = recording_.find("\"pid\":") + 6;
  const std::string pid = recording_.substr(at, recording_.find(',', at) - at);
  for (const std::string rank : {"0", "1"}) {
    const std::string other = rank == "0" ? pid : pid + "7";
    Write("rank" + rank + ".json", Replaced(recording_, "\"pid\":" + pid, "\"pid\":" + other));
    std::string graph = Replaced(operators_, "\"pid\": " + pid, "\"pid\": " + other);
    if (rank == "1") graph = Replaced(graph, "[16, 32]", "[16, 99]"), graph = Replaced(graph, "[16,32]", "[16,99]");
    Write("et_rank" + rank + ".json", graph);
  }
  const std::string paths[] = {folder_};
  const auto loaded = LoadRun(paths);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->run.traces().size(), 2U);
  EXPECT_TRUE(loaded->failures.empty());
  EXPECT_EQ(ShapesOf(*loaded->run.traces()[0].trace, "aten::addmm"), "[[32], [4, 16], [16, 32], [], []]");
  EXPECT_EQ(ShapesOf(*loaded->run.traces()[1].trace, "aten::addmm"), "[[32], [4, 16], [16, 99], [], []]");
}

// As the contract of readers has it: no beginning of one, and no change of one, does more than cost what it broke.
TEST_F(ExecutionTraces, BeginningsAndMutationsAreSurvived) {
  const auto read = [](const std::string& text) {
    MemorySource source(text);
    const auto trace = kineto::ExecutionTrace::Read(source);
    EXPECT_TRUE(trace || !trace.error().hint.empty());
    return trace ? trace->size() : 0;
  };
  const size_t all = read(operators_);
  EXPECT_GT(all, 10U);
  for (size_t size = 0; size < operators_.size(); size += 509) EXPECT_LE(read(operators_.substr(0, size)), all);
  std::mt19937 random(20231);
  for (int i = 0; i < 300; ++i) {
    std::string mutated = operators_;
    for (int edit = 0; edit < 8; ++edit) mutated[random() % mutated.size()] = "{}[],:\"\\0-.e"[random() % 12];
    read(mutated);
  }
}

}  // namespace
}  // namespace gapless::internal
