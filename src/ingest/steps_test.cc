// SPDX-License-Identifier: Apache-2.0
// Tests FindSteps: the choice among several kinds of step marks.
#include "ingest/steps.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/builder.h"

namespace gapless::internal {
namespace {

constexpr int64_t kUs = 1000;

// One thread that annotates and launches, one stream. Times in µs.
class Recording {
 public:
  Recording() : shard_(builder_.NewShard()) {}

  Recording& Mark(std::string_view name, int64_t start, int64_t end) {
    return Slice(name, SliceCategory::kAnnotation, start, end);
  }
  Recording& Operator(int64_t start, int64_t end) { return Slice("aten::mm", SliceCategory::kOperator, start, end); }
  // A launch, and right behind it its kernel.
  Recording& Kernel(int64_t launch, int64_t dur) {
    Launch(launch);
    shard_.Add(GpuOpRow{
        .name = shard_.Text("gemm"), .ts_ns = (launch + 2) * kUs, .dur_ns = dur * kUs, .correlation = correlation_});
    return *this;
  }
  Recording& Launch(int64_t launch) {
    shard_.Add(SliceRow{.name = shard_.Text("cudaLaunchKernel"),
                        .category = SliceCategory::kRuntime,
                        .api = ApiKind::kKernelLaunch,
                        .pid = 1,
                        .tid = 1,
                        .ts_ns = launch * kUs,
                        .dur_ns = kUs,
                        .correlation = ++correlation_});
    return *this;
  }
  Trace Read() {
    Trace trace = std::move(builder_).Finish();
    FindSteps(trace);
    return trace;
  }

 private:
  Recording& Slice(std::string_view name, SliceCategory category, int64_t start, int64_t end) {
    shard_.Add(SliceRow{.name = shard_.Text(name),
                        .category = category,
                        .pid = 1,
                        .tid = 1,
                        .ts_ns = start * kUs,
                        .dur_ns = (end - start) * kUs});
    return *this;
  }

  TraceBuilder builder_;
  TraceBuilder::Shard& shard_;
  int64_t correlation_ = 0;
};

// The text of the note that marks were passed over; "" without such a note.
std::string NoteOf(const Trace& trace) {
  for (size_t row = 0; row < trace.read_stats.size(); ++row)
    if (trace.Text(trace.read_stats.kind[row]) == "ignored_step_marks")
      return std::string(trace.Text(trace.read_stats.text[row]));
  return {};
}

TEST(FindSteps, AMarkOfAFewMicrosecondsDoesNotHideTheRecording) {
  Recording recording;
  recording.Mark("ProfilerStep#0", 100'000, 100'036).Kernel(100'001, 20);
  for (int i = 0; i < 50; ++i) recording.Kernel(i * 2000, 1900);
  const Trace trace = recording.Read();
  EXPECT_EQ(trace.steps.size(), 0U);
  EXPECT_EQ(NoteOf(trace),
            "step marks (ProfilerStep#0) hold 0.02 % of the GPU's work, so they are not taken for steps: the whole "
            "recording is analysed");
}

TEST(FindSteps, OtherMarksTakeThePlaceOfThoseThatHoldNothing) {
  Recording recording;
  recording.Mark("ProfilerStep#0", 0, 10);
  for (int i = 0; i < 4; ++i) recording.Mark("train_step", 100 + i * 1000, 1100 + i * 1000).Kernel(200 + i * 1000, 500);
  const Trace trace = recording.Read();
  EXPECT_EQ(trace.steps.size(), 4U);
  EXPECT_EQ(NoteOf(trace), "");
}

// A program that opens a range each iteration and never closes one: all end with the recording.
TEST(FindSteps, MarksThatAreNeverClosedEndWhereTheNextBegins) {
  Recording recording;
  for (int64_t i = 0; i < 4; ++i)
    recording.Mark("iteration" + std::to_string(i), 100 * i, 900).Kernel(100 * i + 10, 80);
  const Trace trace = recording.Read();
  ASSERT_EQ(trace.steps.size(), 3U) << "where the last one ends is not known";
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(trace.steps.dur_ns[i], 100 * kUs);
}

TEST(FindSteps, AProfilersMarkOfAFewMicrosecondsIsNoStepOfTheHost) {
  Recording recording;
  recording.Mark("ProfilerStep#1", 5000, 5014);
  for (int64_t at = 0; at < 10'000; at += 1000) recording.Operator(at + 100, at + 900);
  EXPECT_EQ(recording.Read().steps.size(), 0U);
  Recording without_operators;  // the work of the step is Python and a collective
  without_operators.Mark("ProfilerStep#1", 0, 9000).Operator(9500, 9600);
  EXPECT_EQ(without_operators.Read().steps.size(), 1U);
}

TEST(FindSteps, MarksOfASchedulerAreNotTheSteps) {
  Recording recording;
  for (int i = 0; i < 4; ++i) {
    recording.Mark("lr_scheduler.step", i * 1000 + 900, i * 1000 + 910);
    recording.Operator(i * 1000, i * 1000 + 800);
  }
  const Trace trace = recording.Read();
  EXPECT_EQ(trace.steps.size(), 0U);
  EXPECT_NE(NoteOf(trace).find("of the host's work"), std::string::npos);
}

TEST(FindSteps, TwoOptimizerMarksMakeOneStepBesideAHeavierFirstOne) {
  Recording recording;
  recording.Kernel(0, 3000).Mark("Optimizer.step#Adam.step", 3100, 3200);
  recording.Kernel(4000, 1000).Mark("Optimizer.step#Adam.step", 5100, 5200);
  EXPECT_EQ(recording.Read().steps.size(), 1U);
}

TEST(FindSteps, AnEnginesIterationsAreTheSteps) {
  Recording recording;
  recording.Mark("ProfilerStep#7", 0, 4000);
  for (int i = 0; i < 4; ++i) {
    recording.Mark("execute_context_0(0)_generation_32(32)", i * 1000, i * 1000 + 900);
    recording.Mark("step[DECODE bs=32]", i * 1000 + 10, i * 1000 + 890).Kernel(i * 1000 + 20, 800);
  }
  const Trace trace = recording.Read();
  ASSERT_EQ(trace.steps.size(), 4U);
  EXPECT_EQ(trace.Text(trace.steps.name[0]), "execute_context_0(0)_generation_32(32)");
}

// Four steps of ten kernels; the recorder lost those of the first two.
TEST(FindSteps, AStepWhoseWorkTheRecorderLostIsNotComplete) {
  Recording recording;
  for (int64_t step = 0; step < 4; ++step) {
    recording.Mark("ProfilerStep#" + std::to_string(step), 100 + step * 1000, 1100 + step * 1000);
    for (int64_t i = 0; i < 10; ++i)
      i % 2 == 0 && step < 2 ? recording.Launch(150 + step * 1000 + i * 50)
                             : recording.Kernel(150 + step * 1000 + i * 50, 30);
  }
  const Trace trace = recording.Read();
  ASSERT_EQ(trace.steps.size(), 4U);
  EXPECT_EQ(trace.steps.complete[1], 0);
  EXPECT_EQ(trace.steps.complete[2], 1);
  const auto& kinds = trace.read_stats.kind;
  const auto note = std::ranges::find(kinds, "damaged_steps", [&](StringId kind) { return trace.Text(kind); });
  ASSERT_NE(note, kinds.end());
  EXPECT_EQ(trace.Text(trace.read_stats.text[static_cast<size_t>(note - kinds.begin())]),
            "steps whose GPU operations were lost are left out: 10 launches in steps 0, 1 have no GPU operation");
}

}  // namespace
}  // namespace gapless::internal
