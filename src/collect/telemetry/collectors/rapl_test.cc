// SPDX-License-Identifier: Apache-2.0
// Two sockets in a made-up /sys/class/powercap; the expected joules are worked out by hand.
#include <gtest/gtest.h>

#include "collect/telemetry/collector.h"
#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal::rapl_collector {

extern const Collector rapl_collector;

namespace {

using testing::Decoder;
using testing::FakeRoot;
using testing::Taken;

class RaplCollector : public ::testing::Test {
 protected:
  void Zone(const std::string& zone, const std::string& name, int64_t microjoules) const {
    const std::string folder = "/sys/class/powercap/" + zone + "/";
    root_.Write(folder + "name", name + "\n");
    root_.Write(folder + "energy_uj", std::to_string(microjoules) + "\n");
    root_.Write(folder + "max_energy_range_uj", "10000000\n");  // 10 J
  }
  Taken Look(double second) {
    if (session_ == nullptr) {
      auto opened = rapl_collector.open(root_.sources(), sink_);
      EXPECT_TRUE(opened);
      session_ = std::move(*opened);
    }
    const auto ns = static_cast<int64_t>(second * 1e9);
    session_->Sample({.unix_ns = ns, .mono_ns = ns}, sink_);
    sink_.EndSamples();
    return decoder_.Take(sink_);
  }
  FakeRoot root_;
  SampleSink sink_;
  Decoder decoder_;
  std::unique_ptr<CollectorSession> session_;
};

TEST_F(RaplCollector, AddsUpTheSocketsAndCountsOverTheWrap) {
  Zone("intel-rapl:0", "package-0", 9'000'000);
  Zone("intel-rapl:1", "package-1", 1'000'000);
  Zone("intel-rapl:0:0", "core", 5'000'000);  // inside the package, and not counted again
  Zone("intel-rapl:0:1", "dram", 2'000'000);
  Zone("intel-rapl:2", "psys", 7'000'000);
  EXPECT_DOUBLE_EQ(Look(0)["host.energy"], 0);
  Zone("intel-rapl:0", "package-0", 500'000);  // wrapped at 10 J: 1.5 J
  Zone("intel-rapl:1", "package-1", 3'000'000);
  Zone("intel-rapl:0:1", "dram", 2'250'000);
  const Taken taken = Look(0.5);
  EXPECT_DOUBLE_EQ(taken["host.energy"], 3.5);
  EXPECT_DOUBLE_EQ(taken["host.power"], 7);
  EXPECT_DOUBLE_EQ(taken["host.energy.dram"], 0.25);
  EXPECT_EQ(taken.units.at("host.power"), "W");
}

TEST_F(RaplCollector, WhereThereIsNoneItSaysSo) {
  const auto none = rapl_collector.open(root_.sources(), sink_);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("not there"), std::string::npos);
  root_.Write("/sys/class/powercap/intel-rapl:0/name", "package-0\n");  // and nobody may read its counter
  const auto denied = rapl_collector.open(root_.sources(), sink_);
  ASSERT_FALSE(denied);
  EXPECT_NE(denied.error().message.find("only root"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal::rapl_collector
