// SPDX-License-Identifier: Apache-2.0
// Tests the layout: numbers of a single rank, ranks in one file, and the base of the times.
#include "convert/writers/chrome/layout.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal::chrome {
namespace {

using internal::testing::HandMade;
constexpr int64_t kSecond = 1'000'000'000;

std::shared_ptr<const Trace> OnePid(int64_t pid, int32_t device, int64_t rank = kAbsent) {
  TraceBuilder builder;
  builder.info().rank = rank;
  auto& shard = builder.NewShard();
  shard.Add(SliceRow{.name = shard.Text("a"), .pid = pid, .tid = 5, .ts_ns = 0, .dur_ns = 10});
  shard.Add(GpuOpRow{.name = shard.Text("k"), .device = device, .stream = 7, .ts_ns = 2, .dur_ns = 3});
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

TEST(ChromeLayoutTest, OneRankKeepsItsNumbers) {
  const internal::Run run({OnePid(4711, 0)});
  const Places places = MakeLayout(run.primary()).traces[0];
  EXPECT_EQ(places.threads[0].pid, 4711);
  EXPECT_EQ(places.threads[0].tid, 5);
  EXPECT_EQ(places.devices.at(0).pid, 0);
  EXPECT_EQ(places.devices.at(0).streams.at(7).work, 7);
}

TEST(ChromeLayoutTest, ADeviceNeverSharesAProcessWithAHost) {
  const internal::Run run({OnePid(1, 1)});
  const Places places = MakeLayout(run.primary()).traces[0];
  EXPECT_EQ(places.threads[0].pid, 1);
  EXPECT_NE(places.devices.at(1).pid, 1);
  EXPECT_NE(places.own_pid, 1);
  EXPECT_NE(places.own_pid, places.devices.at(1).pid);
}

TEST(ChromeLayoutTest, RanksOfOneFileAreKeptApart) {
  const internal::Run run({OnePid(1, 0, 0), OnePid(1, 0, 1)});
  const Layout layout = MakeLayout(run.primary());
  EXPECT_NE(layout.traces[0].threads[0].pid, layout.traces[1].threads[0].pid);
  EXPECT_NE(layout.traces[0].devices.at(0).pid, layout.traces[1].devices.at(0).pid);
  EXPECT_NE(layout.traces[0].own_pid, layout.traces[1].own_pid);
}

// A trace whose first event is at `origin` on the recorder's clock and at `unix` on the wall clock.
std::shared_ptr<const Trace> At(int64_t origin, int64_t unix_ns, int64_t rank, const std::string& base = "") {
  TraceBuilder builder;
  builder.info().rank = rank;
  if (!base.empty()) builder.AddEnvironment("baseTimeNanoseconds", base);
  auto& shard = builder.NewShard();
  shard.Add(SliceRow{.name = shard.Text("a"), .pid = 1, .tid = 1, .ts_ns = origin, .dur_ns = 10});
  auto trace = std::make_shared<Trace>(std::move(builder).Finish());
  trace->info.start_unix_ns = unix_ns;
  return trace;
}

TEST(ChromeLayoutTest, TimesSinceNineteenSeventyCountFromAWholeSecond) {
  const int64_t start = 1'712'195'495 * kSecond + 519'695'800;
  const internal::Run run({At(start, start, kAbsent)});
  const Layout layout = MakeLayout(run.primary());
  EXPECT_EQ(layout.base_unix_ns, 1'712'195'495 * kSecond);
  EXPECT_EQ(layout.traces[0].offset_ns, 519'695'800);
}

TEST(ChromeLayoutTest, TheRecordersOwnBaseStays) {
  const int64_t base = 1'712'275'200 * kSecond, origin = 5'131'829'390'123;
  const internal::Run run({At(origin, base + origin, kAbsent, std::to_string(base))});
  const Layout layout = MakeLayout(run.primary());
  EXPECT_EQ(layout.base_unix_ns, base);
  EXPECT_EQ(layout.traces[0].offset_ns, origin);
}

TEST(ChromeLayoutTest, AClockThatIsNoWallClockStaysAsItIs) {
  const internal::Run run({At(77, kAbsent, kAbsent)});
  const Layout layout = MakeLayout(run.primary());
  EXPECT_EQ(layout.base_unix_ns, kAbsent);
  EXPECT_EQ(layout.traces[0].offset_ns, 77);
}

TEST(ChromeLayoutTest, RanksShareOneClock) {
  const int64_t start = 1'700'000'000 * kSecond;
  const internal::Run run({At(5, start + 40, 0), At(9, start + 10, 1)});
  const Layout layout = MakeLayout(run.primary());
  EXPECT_EQ(layout.base_unix_ns, start);
  EXPECT_EQ(layout.traces[0].offset_ns, 40);
  EXPECT_EQ(layout.traces[1].offset_ns, 10);
}

}  // namespace
}  // namespace gapless::internal::chrome
