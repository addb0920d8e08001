// SPDX-License-Identifier: Apache-2.0
// Tests the place of the user's code that a slice of a Kineto recording gets (docs/formats/kineto.md, "Source lines").
#include <gtest/gtest.h>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

class KinetoLines : public ::testing::Test {
 protected:
  Trace MustRead(std::string json) {
    MemorySource source(std::move(json));
    auto trace = ReadTrace(source, {.pool = pool_});
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace{};
  }
  static std::string Wrap(std::string_view events) { return "{\"traceEvents\":[" + std::string(events) + "]}"; }
  static std::string_view Place(const Trace& trace, size_t row) { return trace.Text(trace.slices.source_line[row]); }
  ThreadPool pool_{2};
};

// The line in a Python function's name is where the function begins, or where it stood when the recording began.
TEST_F(KinetoLines, PythonFunctionsGiveFunctionsWithoutLines) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"python_function","name":"train.py(41): main","pid":1,"tid":1,"ts":0,"dur":100,"args":{}},)"
      R"({"ph":"X","cat":"python_function","name":"torch/nn/modules/module.py(1500): _call_impl","pid":1,"tid":1,"ts":10,"dur":50,"args":{}},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":20,"dur":5,"args":{}},)"
      R"({"ph":"X","cat":"python_function","name":"train.py(3): <module>","pid":2,"tid":2,"ts":0,"dur":100,"args":{}})"));
  for (const size_t row : {0U, 2U, 3U}) EXPECT_EQ(Place(trace, row), "main() (train.py)") << row;
  EXPECT_EQ(Place(trace, 1), "<module> (train.py)");
}

TEST_F(KinetoLines, ComprehensionsBelongToTheFunctionAroundThem) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"python_function","name":"train.py(41): main","pid":1,"tid":1,"ts":0,"dur":9,"args":{}},)"
      R"({"ph":"X","cat":"python_function","name":"train.py(44): <listcomp>","pid":1,"tid":1,"ts":1,"dur":7,"args":{"CallFrom":"train.py:44"}},)"
      R"({"ph":"X","cat":"python_function","name":"train.py(44): <lambda>","pid":1,"tid":1,"ts":2,"dur":3,"args":{"CallFrom":"torch/x.py:4"}})"));
  EXPECT_EQ(Place(trace, 1), "train.py:44");
  EXPECT_EQ(Place(trace, 2), "train.py:44");
}

TEST_F(KinetoLines, PythonsOwnLibraryIsNotTheUsersCode) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"python_function","name":"json/decoder.py(3): decode","pid":1,"tid":1,"ts":0,"dur":9,"args":{"CallFrom":"train.py:4"}},)"
      R"({"ph":"X","cat":"python_function","name":"<built-in method match of re.Pattern object at 0x7f>","pid":1,"tid":1,"ts":1,"dur":3,"args":{"CallFrom":"json/decoder.py:9"}},)"
      R"({"ph":"X","cat":"python_function","name":"/home/me/json_tools/read.py(7): load","pid":2,"tid":2,"ts":0,"dur":9,"args":{}})"));
  EXPECT_EQ(Place(trace, 0), "train.py:4");
  EXPECT_EQ(Place(trace, 1), "load() (/home/me/json_tools/read.py)");
  EXPECT_EQ(Place(trace, 2), "train.py:4");
}

TEST_F(KinetoLines, CallingLinesAreExact) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"python_function","name":"train.py(41): main","pid":1,"tid":1,"ts":0,"dur":100,"args":{"CallFrom":"train.py:90"}},)"
      R"({"ph":"X","cat":"python_function","name":"<built-in method item of Tensor object at 0x7f>","pid":1,"tid":1,"ts":10,"dur":20,"args":{"CallFrom":"train.py:44"}},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::item","pid":1,"tid":1,"ts":12,"dur":5,"args":{}},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::mul","pid":1,"tid":1,"ts":35,"dur":5,"args":{}},)"
      R"({"ph":"X","cat":"python_function","name":"torch/optim/sgd.py(80): step","pid":1,"tid":1,"ts":50,"dur":20,"args":{"CallFrom":"train.py:46"}},)"
      R"({"ph":"X","cat":"python_function","name":"torch/optim/sgd.py(12): _update","pid":1,"tid":1,"ts":52,"dur":10,"args":{"CallFrom":"torch/optim/sgd.py:99"}},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::add_","pid":1,"tid":1,"ts":54,"dur":5,"args":{}})"));
  EXPECT_EQ(Place(trace, 1), "train.py:44");
  EXPECT_EQ(Place(trace, 2), "train.py:44");
  EXPECT_EQ(Place(trace, 3), "main() (train.py)") << "an operator of the language makes no call that is recorded";
  EXPECT_EQ(Place(trace, 5), "train.py:46") << "called by library code, in a call from line 46";
  EXPECT_EQ(Place(trace, 6), "train.py:46");
}

// Recorders of whole microseconds: the call of 9.6 µs is written as 9, the operator in it as 10.
TEST_F(KinetoLines, AnOperatorThatSeemsToLastLongerThanItsCallHasTheLineOfTheCall) {
  const Trace trace = MustRead(Wrap(
      R"({"ph":"X","cat":"python_function","name":"train.py(41): main","pid":1,"tid":1,"ts":0,"dur":100,"args":{"CallFrom":"train.py:90"}},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::mean","pid":1,"tid":1,"ts":10,"dur":10,"args":{}},)"
      R"({"ph":"X","cat":"python_function","name":"<built-in method mean of Tensor object at 0x7f>","pid":1,"tid":1,"ts":10,"dur":9,"args":{"CallFrom":"train.py:44"}})"));
  EXPECT_EQ(Place(trace, 1), "train.py:44");
  EXPECT_EQ(Place(trace, 2), "train.py:44");
}

TEST_F(KinetoLines, RecordedStacksAreExactWithoutPythonFunctions) {
  const std::string op =
      R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":2,"tid":2,"ts":20,"dur":5,"args":{"Call stack":"/x/site-packages/torch/optim.py(3): step;loop.py(12): <module>"}})";
  EXPECT_EQ(Place(MustRead(Wrap(op)), 0), "loop.py:12");
  const auto behind = [&](const std::string& frames) {
    const std::string library = "/x/site-packages/torch/optim.py(3): step;";
    std::string other = op;
    return std::string(Place(MustRead(Wrap(other.replace(other.find(library), library.size(), library + frames))), 0));
  };
  EXPECT_EQ(behind("data.py(7): <genexpr>;"), "loop.py:12") << "the line that asks for the next value";
  EXPECT_EQ(behind("gapless/collect.py(95): _recorded;"), "loop.py:12") << "gapless itself";
  EXPECT_EQ(behind("python/gapless/collect.py(95): _recorded;"), "loop.py:12");
  EXPECT_EQ(behind("gapless/train.py(95): main;"), "gapless/train.py:95") << "a script in a folder of that name";
  const std::string function =
      R"(,{"ph":"X","cat":"python_function","name":"loop.py(12): <module>","pid":2,"tid":2,"ts":0,"dur":50,"args":{}})";
  EXPECT_EQ(Place(MustRead(Wrap(op + function)), 1), "<module> (loop.py)");
}

}  // namespace
}  // namespace gapless::internal
