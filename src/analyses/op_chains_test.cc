// SPDX-License-Identifier: Apache-2.0
// Tests FindChains: the links of a chain, the operations that end it, and its maximum length.
#include "analyses/op_chains.h"

#include <gtest/gtest.h>

#include <string>

#include "analyses/surroundings.h"
#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

constexpr std::string_view kSame = "[[64,128]]";

// Kernels that follow each other on one stream, 100 ns each, by operators of 10 ns.
class Lane {
 public:
  Lane& Add(std::string_view op, GpuOpClass op_class, std::string_view shapes = kSame, int64_t tid = testing::kMain) {
    trace_.OperatorOn(op, at_, at_ + 10, {.shapes = shapes, .types = R"(["float"])"}, tid);
    trace_.Kernel("kernel", {at_ + 1, at_ + 9, 1000 + 10 * at_, 1000 + 10 * at_ + 100}, {.op_class = op_class}, tid);
    at_ += 10;
    return *this;
  }
  // Each chain as "a b", with what is before and after it in brackets.
  std::string Chains() {
    const auto trace = trace_.Finish();
    const Run run({trace});
    const TraceTimeline timeline = MakeTimeline(
        run.traces()[0], [&] { return AnalysedWindow(*run.traces()[0].trace); }, false);
    struct Text : ChainSink {
      explicit Text(const Trace& t) : of(t) {}
      std::string NameOf(GpuOpId row) const {
        return row.valid() ? std::string(of.Text(of.slices.name[of.gpu_ops.op[row.value].value])) : "-";
      }
      void Chain(const OpChain& chain) override {
        text += '(' + NameOf(chain.before) + ')';
        for (const ChainLink& link : chain.links) text += ' ' + std::string(of.Text(link.name));
        text += " (" + NameOf(chain.after) + ")\n";
      }
      const Trace& of;
      std::string text;
    } sink(*trace);
    FindChains(timeline, Surroundings(timeline.trace()), sink);
    return sink.text;
  }
  HandMade& trace() { return trace_; }

 private:
  HandMade trace_;
  int64_t at_ = 0;
};

constexpr GpuOpClass kPoint = GpuOpClass::kPointwise, kGemm = GpuOpClass::kGemm;

TEST(OpChains, AreOperatorsBetweenMatrixWork) {
  Lane lane;
  lane.Add("mm", kGemm).Add("add", kPoint).Add("sum", GpuOpClass::kReduce).Add("norm", GpuOpClass::kNorm);
  lane.Add("conv", GpuOpClass::kConv).Add("relu", kPoint);
  EXPECT_EQ(lane.Chains(), "(mm) add sum norm (conv)\n(conv) relu (-)\n");
}

TEST(OpChains, EndWhereTheSizesDoNotFit) {
  Lane lane;
  lane.Add("a", kPoint)
      .Add("rows", kPoint, "[[64,1]]")
      .Add("other", kPoint, "[[100,3]]")
      .Add("more", kPoint, "[[100,3]]");
  EXPECT_EQ(lane.Chains(), "(-) a rows (-)\n(rows) other more (-)\n");
}

TEST(OpChains, LookThroughScalarsAndFillsAndTakeCopiesOnlyBetweenLinks) {
  Lane lane;
  lane.Add("aten::copy_", kPoint).Add("a", kPoint).Add("counter", kPoint, "[[]]").Add("aten::fill_", kPoint);
  lane.Add("aten::copy_", kPoint).Add("b", kPoint).Add("aten::copy_", kPoint).Add("mm", kGemm);
  EXPECT_EQ(lane.Chains(), "(-) a aten::copy_ b (mm)\n");
}

TEST(OpChains, DoNotCrossThreads) {
  Lane lane;
  lane.Add("a", kPoint).Add("b", kPoint, kSame, testing::kBackward);
  EXPECT_EQ(lane.Chains(), "(-) a (-)\n(-) b (-)\n");
}

TEST(OpChains, LeaveOutWhatIsCompiledOrTheOptimisers) {
  Lane lane;
  lane.trace().Annotation("Optimizer.step#SGD.step", 0, 20);
  lane.Add("a", kPoint).Add("b", kPoint).Add("c", kPoint);
  EXPECT_EQ(lane.Chains(), "(b) c (-)\n");
}

TEST(OpChains, AreCutAtFifteenLinks) {
  Lane lane;
  for (int i = 0; i < 16; ++i) lane.Add("a", kPoint);
  EXPECT_EQ(lane.Chains(), "(-) a a a a a a a a a a a a a a a (-)\n(a) a (-)\n");
}

}  // namespace
}  // namespace gapless::internal
