// SPDX-License-Identifier: Apache-2.0
// Tests the what-ifs on communication between ranks: nosync, compress, ddp_bucket, network, straggler.
//
// The link of these recordings takes 50 µs and 0.1 ns a byte: 1 MB 150 µs, 4 MB 450.
#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Ask;
using testing::Asked;
using testing::AskOf;
using testing::kUs;
using testing::Program;

constexpr int64_t kMB = 1'000'000, kMiB = 1 << 20;
constexpr int64_t WireNs(int64_t bytes) { return bytes == kAbsent ? 100 * kUs : 50 * kUs + bytes / 10; }

// A backward pass, and after it an exchange of each size.
Program After(const std::vector<int64_t>& sizes, int64_t waits_us = 0) {
  Program program;
  program.Steps(2, [&] {
    program.Backward([&] { program.Kernel({.op = "aten::mm", .us = 1000}); });
    for (const int64_t bytes : sizes) program.AllReduce(bytes, WireNs(bytes), waits_us * kUs);
    program.Join();
  });
  return program;
}
Program Alone() {
  Program program;
  program.Steps(2, [&] { program.Kernel({.op = "aten::mm", .us = 1000}); });
  return program;
}
// Carried by the host.
Program OnHost() {
  Program program = Alone();
  program.made().Collective("all_reduce", 100, 200, kMB, kAbsent32);
  return program;
}

TEST(Nosync, OfFourStepsThreeDoWithoutTheExchange) {
  Program program = After({kMB, 4 * kMB});
  EXPECT_NEAR(Ask(program, "nosync=4").SavedUs(), 600 * 3 / 4.0, 3);
}
TEST(Nosync, IsTheMeanOfStepsAndNoShorterExchange) {
  Program program;
  program.Steps(2, [&] {
    program.Backward([&] { program.Kernel({.op = "aten::mm", .us = 100}); });
    program.AllReduce(kMB, 600 * kUs);  // 100 µs longer than what it hides behind
    program.Backward([&] { program.Kernel({.op = "aten::mm", .us = 500}); });
  });
  // An exchange of half the length would hide altogether, and save 100.
  EXPECT_NEAR(Ask(program, "nosync=2").SavedUs(), 50, 3);
}
TEST(Nosync, EveryStepAndNone) {
  Program program = After({kMB}), alone = Alone(), host = OnHost();
  EXPECT_EQ(Ask(program, "nosync=1").effect.no_effect, "every step exchanges its gradients already");
  EXPECT_EQ(Ask(alone, "nosync=4").effect.no_effect, "no exchange of gradients was recorded");
  EXPECT_EQ(Ask(host, "nosync=4").effect.refusal,
            "the host carries the collectives: how long they hold up a step was not recorded");
}

TEST(Compress, HalfTheBytesAndTwoCasts) {
  Program program = After({kMB, 4 * kMB});
  // 500 µs of bytes, half of them saved; 3 times 5 MB at 700 GB/s.
  EXPECT_NEAR(Ask(program, "compress").SavedUs(), 250 - 15e6 / 700e9 * 1e6, 2);
}
TEST(Compress, WaitingForOthersStays) {
  Program program = After({kMB, 4 * kMB}, 300);
  EXPECT_NEAR(Ask(program, "compress").SavedUs(Estimate::kOptimistic), 250, 2)
      << "no latency is 350 µs: of what is fitted so, 100 count";
}
// If ranks are replayed together, an exchange takes its transfer alone: the waiting follows from the others.
TEST(Compress, OfATransferAloneHalfGoes) {
  Program program = After({kMB, 4 * kMB}, 300);
  Analysed run(std::vector{program.Finish()});
  const RunTrace& of = run.tables().run().traces()[0];
  const Graph graph = BuildGraph(*of.trace);
  const uint32_t edge = graph.OpEdge(of.trace->collectives.gpu_op[1].value);
  std::vector<int64_t> edge_ns = RecordedEdges(graph);
  ASSERT_EQ(edge_ns[edge], 750 * kUs);
  edge_ns[edge] = 450 * kUs;
  EdgeTimes times(graph, std::move(edge_ns));
  const FixModel& compress = FindFix("compress")->model;
  ASSERT_TRUE(compress.apply({of, run.tables()}, {.name = "compress"}, Estimate::kOptimistic, times));
  EXPECT_EQ(times.ns()[edge], 250 * kUs);
}
TEST(Compress, WithoutAnExchangeOrItsSize) {
  Program alone = Alone(), sizes = After({kAbsent});
  EXPECT_EQ(Ask(alone, "compress").effect.no_effect, "no exchange of gradients was recorded");
  EXPECT_EQ(Ask(sizes, "compress").effect.refusal, "the sizes of the exchanges were not recorded");
}

TEST(DdpBucket, LargerBucketsSaveLatency) {
  Program program = After({kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB});
  // 1, 4, 4, 4, 4 become 1, 8, 8: all are ready when the first is.
  const Asked asked = Ask(program, "ddp_bucket=8");
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 100, 3);
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 50, 3);
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), 200, 3);
}
TEST(DdpBucket, SmallerBucketsLeaveEarlier) {
  Program program;
  program.Steps(2, [&] {
    program.Backward([&] { program.Kernel({.op = "aten::mm", .us = 200}); });
    program.AllReduce(kMiB, WireNs(kMiB));
    program.Backward([&] { program.Kernel({.op = "aten::mm", .us = 3200}); });
    program.AllReduce(32 * kMiB, WireNs(32 * kMiB));
    program.Join();
  });
  // Four of 8 MiB are ready 800 µs after each other and take 889: done 800 + 4 · 889 after the first bucket.
  const double each = 50 + 8.0 * kMiB / 1e4, one = 50 + 32.0 * kMiB / 1e4;
  EXPECT_NEAR(Ask(program, "ddp_bucket=8").SavedUs(), 3200 + one - (800 + 4 * each), 6);
}
TEST(DdpBucket, AsRecorded) {
  Program program = After({kMiB, 25 * kMiB, 25 * kMiB}), alone = Alone();
  EXPECT_EQ(Ask(program, "ddp_bucket=25").effect.no_effect, "gradients are exchanged in as many buckets already");
  EXPECT_EQ(Ask(alone, "ddp_bucket=25").effect.no_effect, "no exchange of gradients was recorded");
}
TEST(DdpBucket, BearsSizesThatCannotBe) {
  Program program;
  program.Steps(2, [&] {
    program.Backward([&] { program.Kernel({.op = "aten::mm"}); });
    program.AllReduce(kMB, WireNs(kMB)).AllReduce(INT64_MAX / 4, WireNs(kMB)).Join();
  });
  EXPECT_TRUE(Ask(program, "ddp_bucket=1").never_negative);
}
TEST(DdpBucket, RefusesWithoutSteps) {
  Program program;
  program.Backward([&] { program.Kernel({.op = "aten::mm"}); });
  program.AllReduce(kMB, WireNs(kMB)).AllReduce(4 * kMB, WireNs(4 * kMB)).Synchronize();
  EXPECT_EQ(Ask(program, "ddp_bucket=25").effect.refusal,
            "no steps were recorded: where one exchange of gradients ends is not known");
}

TEST(Network, OfTwiceTheSpeedTakesHalfForTheBytes) {
  Program program = After({kMB, 4 * kMB}), slower = After({kMB, 4 * kMB});
  const Asked asked = Ask(program, "network=0.5");
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 250, 2);
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 200, 2) << "with a latency of 100 µs";
  EXPECT_NEAR(Ask(slower, "network=2").SavedUs(), -500, 2);
}
TEST(Network, WithoutCollectivesOrTheirSize) {
  Program alone = Alone(), sizes = After({kAbsent});
  EXPECT_EQ(Ask(alone, "network=0.5").effect.no_effect, "no collective was recorded");
  EXPECT_EQ(Ask(sizes, "network=0.5").effect.refusal,
            "neither sizes of collectives nor a second rank were recorded: what of their time is transfer");
}

// Ranks with so much work a step, each waiting for the slowest.
Analysed Ranks(const std::vector<int64_t>& work_us) {
  const int64_t slowest = *std::max_element(work_us.begin(), work_us.end());
  std::vector<std::shared_ptr<const Trace>> traces;
  for (size_t rank = 0; rank < work_us.size(); ++rank) {
    Program program;
    program.Rank(static_cast<int64_t>(rank), static_cast<int32_t>(work_us.size()));
    program.Steps(3, [&] {
      program.Backward([&] {
        for (int i = 0; i < 5; ++i) program.Kernel({.op = "aten::mm", .us = work_us[rank] / 5});
      });
      program.AllReduce(kMB, WireNs(kMB), (slowest - work_us[rank]) * kUs).Join();
    });
    traces.push_back(program.Finish());
  }
  return Analysed(std::move(traces));
}
TEST(Straggler, DoesItsWorkInTheMediansTimeAndTheOthersWaitLess) {
  Analysed ranks = Ranks({500, 800, 600});
  EXPECT_NEAR(AskOf(ranks, "straggler", 1).SavedUs(), 200, 4);
  EXPECT_NEAR(AskOf(ranks, "straggler", 0).SavedUs(), 200, 4) << "it waits 100 instead of 300 µs";
  EXPECT_NEAR(AskOf(ranks, "straggler", 1).SavedUs(Estimate::kPessimistic), 100, 4);
  EXPECT_NEAR(AskOf(ranks, "straggler", 1).SavedUs(Estimate::kOptimistic), 300, 4);
}
TEST(Straggler, EvenRanks) {
  Analysed ranks = Ranks({500, 500});
  EXPECT_EQ(AskOf(ranks, "straggler").effect.no_effect, "no rank takes longer than the median");
}
TEST(Straggler, RefusesOneRank) {
  Program program = After({kMB});
  EXPECT_EQ(Ask(program, "straggler").effect.refusal, "one rank was recorded: who waits for whom takes all of them");
}

// Sums after the backward pass, as a program sends them that exchanges each parameter by itself: no hook, no thread of
// the backward pass. `bytes` of each; kAbsent: as where the device alone was recorded.
Program Naive(int count, int64_t bytes, std::string_view kind = "all_reduce") {
  Program program;
  for (int step = 0; step < 2; ++step)
    program.Step([&] {
      program.Kernel({.us = 10});
      for (int i = 0; i < count; ++i) {
        program.Kernel({.us = 100, .op_class = GpuOpClass::kCommunication, .name = "ncclKernel"}, testing::kExchange);
        program.MarkAsCollective(kind, bytes);
      }
      program.Join();
    });
  return program;
}
TEST(Exchange, OfUnknownSizeIsNotNone) {
  Program program = Naive(20, kAbsent);
  EXPECT_EQ(Ask(program, "ddp_bucket=25").effect.refusal, "the sizes of the exchanges were not recorded");
  Program again = Naive(20, kAbsent);
  const Asked nosync = Ask(again, "nosync=4");
  EXPECT_NEAR(nosync.SavedUs(), 20 * 101 * 3 / 4.0, 80) << "without sizes, too, it is known what goes";
  ASSERT_EQ(nosync.effect.assumptions.size(), 2U);
  EXPECT_EQ(nosync.effect.assumptions[0],
            "the sums over the ranks are of gradients, which the recording does not show");
}
TEST(Exchange, OfManySmallSumsIsOneOfGradients) {
  Program program = Naive(40, 4'000), few = Naive(2, 8);
  EXPECT_NEAR(Ask(program, "ddp_bucket=25").SavedUs(), 39 * 20, 80) << "one latency of 20 µs instead of forty";
  EXPECT_EQ(Ask(few, "ddp_bucket=25").effect.refusal,
            "the recorded sums over the ranks are few and small: whether they are of gradients is not known");
}
TEST(Exchange, MayBeAReduceScatter) {
  Program program = Naive(4, kMB, "reduce_scatter"), gathers = Naive(4, kMB, "all_gather");
  EXPECT_TRUE(Ask(program, "compress").Applies());
  EXPECT_EQ(Ask(gathers, "compress").effect.refusal,
            "communication was recorded, but not which of it exchanges gradients");
}
TEST(Exchange, OfOneRankOfManyIsNotAbsentForNotBeingRecorded) {
  Program program = Alone();
  program.made().Rank(0, 8);
  EXPECT_EQ(Ask(program, "compress").effect.refusal, "this is one of 8 ranks, and no communication of it was recorded");
}
TEST(Exchange, WithoutABackwardPassIsNoneOfGradients) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 1000});
    program.Kernel({.us = 100, .op_class = GpuOpClass::kCommunication, .name = "ncclKernel"}, testing::kExchange);
    program.MarkAsCollective("all_reduce", kMB);
    program.Join();
  });
  EXPECT_EQ(Ask(program, "nosync=4").effect.no_effect,
            "no backward pass was recorded, and so no exchange of its gradients");
}

TEST(Straggler, OfAPartBringsThatPartAlone) {
  Analysed ranks = Ranks({500, 800, 600});
  EXPECT_NEAR(AskOf(ranks, "straggler=kernels", 1).SavedUs(), 200, 4);
  EXPECT_EQ(AskOf(ranks, "straggler=data", 1).effect.no_effect, "no rank takes longer than the median");
  EXPECT_FALSE(ParseItems("straggler=data")->empty());
}

}  // namespace
}  // namespace gapless::internal
