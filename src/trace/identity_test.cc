// SPDX-License-Identifier: Apache-2.0
// A table of pairs of recordings: what is known of both, and how they relate.
#include "trace/identity.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace gapless::internal {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kDay = 86'400 * kSecond, kNow = 1'718'000'000 * kSecond;

// A recording by Kineto of three seconds of a process that uses a device. Only the time is known, on the wall clock.
Identity Known() {
  return {.path = "log/a.json",
          .profiler = "kineto",
          .start_ns = kNow,
          .end_ns = kNow + 3 * kSecond,
          .wall_clock = true,
          .has_rows = true,
          .uses_device = true};
}
Identity Pid(int64_t pid, Identity of = Known()) { return of.pid = pid, of; }
Identity On(std::string_view host, Identity of) { return of.host = host, of; }
Identity At(std::string_view path, Identity of) { return of.path = path, of; }
Identity By(std::string_view profiler, Identity of) { return of.profiler = profiler, of; }
Identity Later(int64_t by_ns, Identity of) { return of.start_ns += by_ns, of.end_ns += by_ns, of; }
Identity OwnClock(int64_t start_ns, Identity of) {
  of.wall_clock = false, of.start_ns = start_ns, of.end_ns = start_ns + 3 * kSecond;
  return of;
}
Identity Rank(int64_t rank, int64_t world_size, Identity of = Known()) {
  of.rank = rank, of.world_size = world_size, of.says_rank = true;
  return of;
}
// Recordings that only inherit the rank: a process that a rank started, or our agent's word in a worker.
Identity Inherits(Identity of) { return of.says_rank = false, of; }

struct Case {
  const char* what;
  Identity a, b;
  Relation relation;
};

TEST(Relate, WhatIsKnownOfBothDecides) {
  const std::vector<Case> cases = {
      // one process
      {"two profilers at once", Pid(7), By("cupti", Pid(7)), Relation::kSameStretch},
      {"cycles of a schedule", Pid(7), Later(10 * kSecond, Pid(7)), Relation::kSameProcess},
      {"cycles in a container", Pid(1), Later(10 * kSecond, Pid(1)), Relation::kSameProcess},
      {"an agent beside the profiler, both of rank 3", Rank(3, 8, Pid(7)), By("agent", Rank(3, 8, Pid(7))),
       Relation::kSameStretch},
      // processes that look alike, and are not known to be one
      {"pods: one profiler records a process once at a time", Pid(1), Pid(1), Relation::kSameJob},
      {"pods in folders of their own", At("log/pod0/t.json", Pid(1)), At("log/pod1/t.json", By("cupti", Pid(1))),
       Relation::kSameJob},
      {"the same number on two hosts", On("a", Pid(7)), On("b", By("cupti", Pid(7))), Relation::kSameJob},
      {"no process number", Known(), By("cupti", Known()), Relation::kSameJob},
      {"no process number, and another time", Known(), Later(kDay, Known()), Relation::kOtherTime},
      // ranks of one job, or not
      {"two ranks", Rank(0, 2, Pid(7)), Rank(1, 2, Pid(8)), Relation::kSameJob},
      {"two ranks with the number of a container", Rank(0, 2, Pid(1)), Rank(1, 2, Pid(1)), Relation::kSameJob},
      {"two ranks without a wall clock", OwnClock(0, Rank(0, 2)), OwnClock(kDay, Rank(1, 2)), Relation::kSameJob},
      {"two ranks, ten minutes apart", Rank(0, 2), Later(600 * kSecond, Rank(1, 2)), Relation::kSameJob},
      {"two ranks, 98 days apart", Rank(0, 2), Later(98 * kDay, Rank(1, 2)), Relation::kOtherTime},
      {"ranks of jobs of other sizes", Rank(3, 8), Rank(1, 2), Relation::kOtherJob},
      {"the same rank of jobs of other sizes", Rank(0, 8), Later(98 * kDay, Rank(0, 2)), Relation::kOtherJob},
      {"one does not know the size", Rank(3, kAbsent), Rank(1, 2), Relation::kSameJob},
      // one rank twice
      {"both say rank 0, at once", Rank(0, 2, Pid(7)), Rank(0, 2, Pid(8)), Relation::kRankClash},
      {"both say rank 0, without a common clock", OwnClock(0, Rank(0, 2, Pid(7))), OwnClock(kDay, Rank(0, 2, Pid(8))),
       Relation::kRankClash},
      {"both say rank 0, in containers", Rank(0, 2, Pid(1)), Rank(0, 2, Pid(1)), Relation::kRankClash},
      {"rank 0 was started again", Rank(0, 2, Pid(7)), Later(kDay, Rank(0, 2, Pid(8))), Relation::kOtherTime},
      {"a rank and its loader's worker", Rank(0, 2, Pid(7)), Inherits(Rank(0, 2, Pid(8))), Relation::kSameJob},
      // processes without ranks
      {"at once", Pid(7), Pid(8), Relation::kSameJob},
      {"a day apart", Pid(7), Later(kDay, Pid(8)), Relation::kOtherTime},
      {"clocks of two hosts", On("a", OwnClock(0, Pid(7))), On("b", OwnClock(kDay, Pid(7))), Relation::kSameJob},
      {"one clock is the wall's, the other is not", Pid(7), OwnClock(0, Pid(8)), Relation::kOtherTime},
  };
  for (const Case& pair : cases) {
    EXPECT_EQ(Relate(pair.a, pair.b), pair.relation) << pair.what;
    EXPECT_EQ(Relate(pair.b, pair.a), pair.relation) << pair.what << ", the other way round";
  }
}

Trace Named(std::string path, int64_t pid, std::string_view trace_name = {}) {
  TraceBuilder builder;
  auto& shard = builder.NewShard();
  shard.Add(SliceRow{.name = shard.Text("op"), .pid = pid, .tid = 1, .ts_ns = 0, .dur_ns = 10});
  if (!trace_name.empty()) builder.AddEnvironment("traceName", std::string(trace_name));
  builder.info().path = std::move(path);
  return std::move(builder).Finish();
}

TEST(IdentityOf, TheHostIsInTheNameIfTheProcessIsTheOneInIt) {
  const auto host = [](const Trace& trace) { return std::string(IdentityOf(trace).host); };
  EXPECT_EQ(host(Named("log/gpu-node-a_977.1718000100000.pt.trace.json", 977)), "gpu-node-a");
  EXPECT_EQ(host(Named("log/gpu-node-a_977.pt.trace.json.gz", 977)), "gpu-node-a");
  EXPECT_EQ(host(Named("log/resnet18_0.1718000100000.pt.trace.json", 977)), "") << "a name of somebody's own";
  EXPECT_EQ(host(Named("log/worker0.1718000100000.pt.trace.json", 0)), "");
  EXPECT_EQ(host(Named("x.json", 977, "./log/gpu-node-a_977.1718000100000.pt.trace.json")), "gpu-node-a")
      << "the file was renamed";
}

TEST(NaturallyBefore, NumbersCountAsNumbers) {
  EXPECT_TRUE(NaturallyBefore("worker2", "worker10"));
  EXPECT_FALSE(NaturallyBefore("worker10", "worker2"));
  EXPECT_TRUE(NaturallyBefore("a2b1", "a2b2"));
  EXPECT_TRUE(NaturallyBefore("a", "a1"));
  EXPECT_TRUE(NaturallyBefore("gpu-node-a_977", "gpu-node-b_12"));
  EXPECT_FALSE(NaturallyBefore("a1", "a1"));
  EXPECT_NE(NaturallyBefore("a01", "a1"), NaturallyBefore("a1", "a01"));
}

}  // namespace
}  // namespace gapless::internal
