// SPDX-License-Identifier: Apache-2.0
// A program whose GPU holds it up looks as if its host did when a recorder slows the host down.
#include "predict/recording_cost.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "predict/job.h"
#include "predict/predictor.h"
#include "predict/self_check.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

constexpr int64_t kOperators = 100;
constexpr HandMade::Inputs kSized{.shapes = "[[8,8]]", .types = R"(["float"])"};

// Every 20 µs, of which the recorder takes 10, an operator launches a kernel of `kernel_us`.
std::shared_ptr<const Trace> Recorded(std::string_view format, int64_t kernel_us) {
  HandMade made;
  made.Format(format);
  for (int64_t i = 0; i < kOperators; ++i) {
    const int64_t at = i * 20 * kUs, start = at + 15 * kUs;
    GpuOpDraft op{.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kNo};
    made.Kernel("gemm", {at + 9 * kUs, at + 13 * kUs, start, start + kernel_us * kUs}, op);
    made.OperatorOn("aten::mm", at + 4 * kUs, at + 15 * kUs, kSized);
  }
  return made.Finish();
}

int64_t StepNs(const Job& job, double times) { return *StepNs(job, ReplayJob(job, BareEdges(job, times))); }

TEST(RecordingCost, IsTakenOutOfTheHost) {
  const internal::Run run({Recorded("nsys", 5)});
  const Job job = BuildJob(run.primary());
  const double recorded = static_cast<double>(StepNs(job, 0)), bare = static_cast<double>(StepNs(job, 1));
  EXPECT_NEAR(recorded - bare, static_cast<double>(kOperators * 10 * kUs), 50 * kUs)
      << "8 µs for each operator with shapes and 2 for each launch";
}
TEST(RecordingCost, IsNothingBesideADeviceThatIsBusy) {
  const internal::Run run({Recorded("nsys", 30)});
  const Job job = BuildJob(run.primary());
  EXPECT_NEAR(static_cast<double>(StepNs(job, 0)), static_cast<double>(StepNs(job, 1)), 20 * kUs);
}
TEST(RecordingCost, IsNotKnownOfOtherRecorders) {
  const internal::Run run({Recorded("chrome", 5)});
  const Job job = BuildJob(run.primary());
  EXPECT_TRUE(job.ranks[0].recorded.empty());
}
// The program has one host thread, so every instant that host work leads to is one of its own, beginnings and ends.
TEST(RecordingCost, CountsAllHostWorkOfAThreadInOrder) {
  const internal::Run run({Recorded("nsys", 5)});
  const Job job = BuildJob(run.primary());
  const Graph& graph = job.ranks[0].graph;
  std::vector<uint32_t> wanted, found;
  for (Instant to = 0; to < graph.size(); ++to)
    for (uint32_t edge = graph.first_edge[to]; edge < graph.first_edge[to + 1]; ++edge)
      if (graph.edges[edge].kind == EdgeKind::kHost || graph.edges[edge].kind == EdgeKind::kCall) {
        wanted.push_back(edge);
        break;
      }
  for (const RecordedEdge& recorded : job.ranks[0].recorded) found.push_back(recorded.edge);
  EXPECT_EQ(found, wanted);
  EXPECT_GE(wanted.size(), 4 * static_cast<size_t>(kOperators) - 1) << "an operator and its launch begin and end";
}

TEST(RecordingCost, NoEdgeGetsBelowZero) {
  const internal::Run run({Recorded("nsys", 5)});
  const Job job = BuildJob(run.primary());
  const std::vector<std::vector<int64_t>> bare = BareEdges(job, 100);
  for (const int64_t ns : bare[0]) EXPECT_TRUE(ns >= 0 || ns == kNever);
}

// Kernels of 18 µs hide behind a host that takes 20 while it is recorded and 10 otherwise.
TEST(RecordingCost, AFixOfTheDeviceIsWorthWhatItBringsWithoutTheRecorder) {
  Analysed run(std::vector{Recorded("nsys", 18)});
  const auto predictor = Predictor::ForRun(run.tables(), {});
  ASSERT_TRUE(predictor && predictor->check().accepted()) << predictor->check().refusal;
  EXPECT_NEAR(predictor->check().error, 0, 0.01) << "the check is of the recording as it is";
  const auto items = ParseItems("kernels=0.5");
  const auto prediction = predictor->Predict(*items);
  EXPECT_NEAR(prediction->model.expected, 0.55, 0.05);
  EXPECT_GT(prediction->model.high, 0.7) << "with little of that cost the host is in the way";
  ASSERT_EQ(prediction->assumptions.size(), 1U);
  EXPECT_TRUE(prediction->assumptions[0].starts_with("recording slowed the host down")) << prediction->assumptions[0];
}

}  // namespace
}  // namespace gapless::internal
