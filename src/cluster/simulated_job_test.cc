// SPDX-License-Identifier: Apache-2.0
// Tests of simulated jobs: what detectors are held against must itself be right.
#include "cluster/testing/simulated_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace gapless::internal::testing {
namespace {

constexpr Fault kFaults[] = {Fault::kSlowGpu,    Fault::kSlowHost,   Fault::kSlowLink, Fault::kSlowNvlink,
                             Fault::kSlowSwitch, Fault::kUnevenData, Fault::kGarbage,  Fault::kSlowLoader};

JobSpec Small(uint64_t seed, Fault fault = Fault::kNone) {
  return {.seed = seed, .ranks = 64, .steps = 4, .fault = fault};
}

TEST(SimulatedJob, TheSameSeedGivesTheSameBytes) {
  const SimulatedJob one = MakeJob(Small(3, Fault::kGarbage)), again = MakeJob(Small(3, Fault::kGarbage)),
                     other = MakeJob(Small(4, Fault::kGarbage));
  for (const int rank : {0, 17, 63}) EXPECT_EQ(RecordingOf(one, rank), RecordingOf(again, rank));
  EXPECT_EQ(TruthOf(one), TruthOf(again));
  EXPECT_NE(RecordingOf(one, 0), RecordingOf(other, 0));
}

// Ends of the exchanges of each channel, by rank, in the order in which the rank joined them.
using Ends = std::map<std::tuple<int, int, int>, std::map<int, std::vector<const JobEvent*>>>;
Ends EndsOf(const SimulatedJob& job) {
  Ends ends;
  for (int rank = 0; rank < job.spec.ranks; ++rank)
    for (const JobEvent& event : job.ranks[static_cast<size_t>(rank)].events) {
      if (event.kind != EventKind::kCollective) continue;
      const int low = event.peer < 0 ? -1 : std::min(rank, event.peer);
      const int direction =
          event.peer < 0 ? event.name : event.name + (event.peer > rank ? 1 : 0);  // send up meets receive
      ends[{event.group, low, event.peer < 0 ? direction : direction % 2}][rank].push_back(&event);
    }
  return ends;
}

TEST(SimulatedJob, MembersOfACollectiveAgree) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    const SimulatedJob job = MakeJob(Small(seed));
    for (const auto& [channel, by_rank] : EndsOf(job)) {
      const JobGroup& group = job.groups[static_cast<size_t>(std::get<0>(channel))];
      ASSERT_EQ(by_rank.size(), std::get<1>(channel) < 0 ? group.ranks.size() : 2U) << group.dimension;
      const auto& first = by_rank.begin()->second;
      for (const auto& [rank, events] : by_rank) {
        ASSERT_EQ(events.size(), first.size());
        for (size_t i = 0; i < events.size(); ++i) {
          EXPECT_NEAR(events[i]->ts_ns + events[i]->dur_ns, first[i]->ts_ns + first[i]->dur_ns, 15'000);
          EXPECT_EQ(events[i]->elements, first[i]->elements);
        }
      }
    }
  }
}

TEST(SimulatedJob, WorkOfAStreamIsInOrder) {
  const SimulatedJob job = MakeJob(Small(2));
  for (const RankRecord& rank : job.ranks) {
    std::map<int, int64_t> ends;
    for (const JobEvent& event : rank.events) {
      if (event.kind != EventKind::kKernel && event.kind != EventKind::kCopy && event.kind != EventKind::kCollective)
        continue;
      EXPECT_GT(event.dur_ns, 0);
      EXPECT_GE(event.ts_ns, ends[event.stream] - 5'000) << "up to what an end is written late";
      ends[event.stream] = event.ts_ns + event.dur_ns;
    }
  }
}

// Steps of a rank that were recorded whole, but the first.
double MeanStep(const RankRecord& rank) {
  double sum = 0, count = 0;
  for (const JobEvent& event : rank.events)
    if (event.kind == EventKind::kStep && event.ts_ns > rank.begins_ns + 1'000'000)
      sum += static_cast<double>(event.dur_ns), ++count;
  return count > 0 ? sum / count : 0;
}

TEST(SimulatedJob, WithoutAFaultTheStepsOfRanksAgree) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const SimulatedJob job = MakeJob({.seed = seed, .ranks = 64, .steps = 10});
    std::vector<double> means;
    for (const RankRecord& rank : job.ranks) means.push_back(MeanStep(rank));
    std::ranges::sort(means);
    EXPECT_LT(means.back(), 1.1 * means.front()) << seed;
  }
}

TEST(SimulatedJob, AFaultMakesTheStepLonger) {
  for (const Fault fault : kFaults)
    for (const uint64_t seed : {1, 2, 3}) {
      const JobTruth truth = MakeJob(Small(seed, fault)).truth;
      EXPECT_GE(static_cast<double>(truth.step_ns), 1.02 * static_cast<double>(truth.step_without_ns))
          << NameOf(fault) << ' ' << seed;
    }
}

TEST(SimulatedJob, AFaultLeavesTheNoiseAsItIs) {
  const SimulatedJob clean = MakeJob(Small(9)), slow = MakeJob({.seed = 9,
                                                                .ranks = 64,
                                                                .steps = 4,
                                                                .fault = Fault::kSlowGpu,
                                                                .severity = 1.3,
                                                                .layout = clean.spec.layout});
  for (int rank = 0; rank < 64; ++rank) {
    const auto &before = clean.ranks[static_cast<size_t>(rank)].events,
               &after = slow.ranks[static_cast<size_t>(rank)].events;
    ASSERT_EQ(before.size(), after.size());
    const bool ill = rank == slow.truth.ranks[0];
    for (size_t i = 0; i < before.size() && !ill; ++i)
      if (before[i].kind == EventKind::kKernel) {
        EXPECT_EQ(before[i].dur_ns, after[i].dur_ns);
      }
  }
}

TEST(SimulatedJob, ASlowLinkIsToldByTwoFamiliesOfGroups) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const JobTruth truth = MakeJob({.seed = seed, .ranks = 256, .steps = 2, .fault = Fault::kSlowLink}).truth;
    EXPECT_EQ(truth.ranks.size(), 1U) << seed;
    EXPECT_GE(truth.groups.size(), 2U) << seed;
  }
}

TEST(SimulatedJob, OnePureDataGroupTellsNothingOfALink) {
  const SimulatedJob job =
      MakeJob({.seed = 1, .steps = 2, .fault = Fault::kSlowLink, .severity = 0.3, .layout = {.data = 32}});
  EXPECT_EQ(job.truth.ranks.size(), 32U);
}

TEST(SimulatedJob, LayoutsOfAllShapesAreDrawn) {
  std::set<std::string> shapes;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const JobLayout layout = MakeJob({.seed = seed, .ranks = 64, .steps = 1}).spec.layout;
    EXPECT_EQ(layout.ranks(), 64);
    shapes.insert(std::string(layout.tensor > 1 ? "tensor " : "") + (layout.pipeline > 1 ? "pipeline " : "") +
                  (layout.expert > 1 ? "expert" : ""));
  }
  EXPECT_EQ(shapes, (std::set<std::string>{"", "tensor ", "tensor pipeline ", "expert"}));
}

TEST(SimulatedJob, RanksAreWrittenAsStretches) {
  EXPECT_EQ(RankText({3}), "3");
  EXPECT_EQ(RankText({8, 9, 10, 11}), "8-11");
  EXPECT_EQ(RankText({1, 9, 10, 17}), "1,9-10,17");
}

}  // namespace
}  // namespace gapless::internal::testing
