// SPDX-License-Identifier: Apache-2.0
// Tests the part of the time that the rule names as the cause; tests/rules/straggler.py tests when the rule fires.
#include <gtest/gtest.h>

#include <functional>

#include "analyses/testing/hand_made.h"
#include "diagnose/rule.h"

namespace gapless::internal {
namespace {

// Works 200 µs and joins an all-reduce that ends at 900 µs. The slow rank's device first waits for two operators: 50 µs
// for the first and 400 µs for the second.
std::shared_ptr<const Trace> JoiningRank(int64_t rank, bool slow) {
  testing::HandMade trace;
  const GpuOpDraft communication{.op_class = GpuOpClass::kCommunication, .stream = 20};
  trace.Rank(rank).Step(0, 0, 1000 * kUs);
  trace.Kernel("nccl", {0, 1 * kUs, 0, 10 * kUs}, communication).Collective("all_reduce", 0, 10 * kUs, 1 << 20);
  int64_t now = 10 * kUs;
  for (const auto& [name, waits] : {std::pair("aten::short", 50 * kUs), std::pair("aten::long", 400 * kUs)}) {
    if (!slow) break;
    trace.Operator(name, now, now + waits + 2 * kUs);
    trace.Kernel("work", {now + waits, now + waits + kUs, now + waits + 2 * kUs, now + waits + 12 * kUs});
    now += waits + 12 * kUs;
  }
  trace.Kernel("gemm", {now, now + kUs, now, now + 200 * kUs});
  now += 200 * kUs;
  trace.Kernel("nccl", {now, now + kUs, now, 900 * kUs}, communication);
  trace.Collective("all_reduce", now, 900 * kUs, 1 << 20);
  return trace.Finish();
}

TEST(Straggler, NamesTheOperatorInWhichTheSlowRankLosesMost) {
  testing::Analysed run({JoiningRank(0, false), JoiningRank(1, true)});
  const auto rule = std::ranges::find(AllRules(), "straggler", [](const Rule* rule) { return rule->id; });
  const auto found = CheckRule(**rule, run.tables());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  std::string evidence;
  for (const Evidence& item : found->front().evidence) evidence += item.text + "\n";
  EXPECT_NE(evidence.find("rank 1 takes"), std::string::npos) << evidence;
  EXPECT_NE(evidence.find("most in aten::long"), std::string::npos) << evidence;
}

std::vector<Bottleneck> Found(testing::Analysed& run, std::string_view id) {
  const auto rule = std::ranges::find(AllRules(), id, [](const Rule* rule) { return rule->id; });
  const auto found = CheckRule(**rule, run.tables());
  EXPECT_TRUE(found);
  return found ? *found : std::vector<Bottleneck>();
}

// Sixteen ranks, four to a host, five steps of an all-reduce each; `own_us` is what a rank's kernel takes.
testing::Analysed JobOf(const std::function<int64_t(int64_t rank, int64_t step)>& own_us) {
  std::vector<std::shared_ptr<const Trace>> job;
  for (int64_t rank = 0; rank < 16; ++rank) {
    testing::HandMade trace;
    trace.Rank(rank, 16).builder().info().host = StrCat("node", rank / 4);
    for (int64_t step = 0; step < 5; ++step) {
      const int64_t begin = step * 1000 * kUs, met = begin + 850 * kUs;
      trace.Step(step, begin, begin + 1000 * kUs);
      const int64_t own = begin + own_us(rank, step) * kUs;
      trace.Kernel("gemm", {begin, begin + 1, begin, own}, {.grid_x = 100, .grid_y = 1, .grid_z = 1});
      trace.Kernel("nccl", {own, own + 1, own, met}, testing::kComm);
      trace.Collective("all_reduce", own, met, 1 << 20, 0, 20, 16);
      trace.Kernel("adam", {met, met + 1, met, begin + 1000 * kUs}, {.grid_x = 9, .grid_y = 1, .grid_z = 1});
    }
    job.push_back(trace.Finish());
  }
  return testing::Analysed(std::move(job));
}

TEST(Straggler, AHostThatIsLateIsNamedAsAWhole) {
  testing::Analysed run = JobOf([](int64_t rank, int64_t) { return rank / 4 == 2 ? 700 : 500; });
  const auto found = Found(run, "straggler");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].title.starts_with("host node2 (ranks 8-11) is late")) << found[0].title;
  EXPECT_NE(found[0].recommendations[0].text.find("clocks"), std::string::npos) << found[0].recommendations[0].text;
}

TEST(Straggler, OfManyRanksThatTakeTurnsNobodyIsNamed) {
  testing::Analysed run = JobOf([](int64_t rank, int64_t step) { return rank == (7 * step + 3) % 16 ? 830 : 400; });
  const auto found = Found(run, "straggler");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].title.starts_with("ranks wait")) << found[0].title;
  EXPECT_TRUE(found[0].title.ends_with("for each other")) << found[0].title;
}

// On the CPU: `own` of work, then an all-reduce on another thread until 1000 µs. `each`: time that goes into each of
// loading, garbage, saving, compiling and the optimiser before the work.
std::shared_ptr<const Trace> HostRank(int64_t rank, int64_t own, int64_t each = 0) {
  testing::HandMade trace;
  trace.Rank(rank);
  for (int64_t step = 0; step < 4; ++step) {
    int64_t now = step * 1000 * kUs;
    const int64_t end = now + 1000 * kUs;
    trace.Step(step, now, end);
    if (each > 0) trace.Loader(now, now + each), now += each;
    for (const std::string_view name : {"Python GC", "torch.save", "f (dynamo_timed)", "Optimizer.step#SGD.step"})
      if (each > 0) trace.Annotation(name, now, now + each), now += each;
    trace.Operator("aten::mm", now, now + own + each), now += own + each;
    trace.Annotation("gloo:all_reduce", now, end, testing::kBackward);
    trace.shard().Add(CollectiveRow{.name = trace.shard().Text("gloo:all_reduce"),
                                    .kind = trace.shard().Text("all_reduce"),
                                    .pid = rank + 1,
                                    .tid = testing::kBackward,
                                    .ts_ns = now,
                                    .dur_ns = end - now,
                                    .group_size = 3});
  }
  return trace.Finish();
}

TEST(HostStraggler, NamesTheRankThatIsLate) {
  testing::Analysed run({HostRank(0, 300 * kUs), HostRank(1, 800 * kUs)});
  const std::vector<Bottleneck> found = Found(run, "host_straggler");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "rank 1 is late: the others wait 250.0 µs of every step for it");
  EXPECT_EQ(found[0].evidence[2].text,
            "rank 1 takes 500.0 µs a step longer than the others in its operators, most in aten::mm");
}

TEST(HostStraggler, NamesNobodyForWhatStepsVaryBy) {
  testing::Analysed run({HostRank(0, 300 * kUs), HostRank(1, 300 * kUs), HostRank(2, 300 * kUs, 16 * kUs)});
  const std::vector<Bottleneck> found = Found(run, "host_straggler");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "ranks wait 64.0 µs of every step for each other") << "rank 2 is behind by 1.6 % in each";
}

}  // namespace
}  // namespace gapless::internal
