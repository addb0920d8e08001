// SPDX-License-Identifier: Apache-2.0
// Against tests/standins/nvml.cc, which says what its GPUs answer.
#include "collect/telemetry/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "collect/telemetry/collector.h"
#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal::nvml_collector {

extern const Collector nvml_collector;

namespace {

using testing::Decoder;
using testing::Taken;

constexpr const char* kStandin = GAPLESS_STANDINS "/libnvidia-ml.so.1";

class NvmlCollector : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("GAPLESS_STANDIN_NVML"); }
  Taken Look(int64_t ms, std::vector<int64_t> pids = {}) {
    if (session_ == nullptr) {
      auto opened = nvml_collector.open({.nvml_library = kStandin}, sink_);
      EXPECT_TRUE(opened) << opened.error().message;
      session_ = std::move(*opened);
    }
    session_->Sample({.unix_ns = ms * 1'000'000, .mono_ns = ms * 1'000'000, .followed = pids}, sink_);
    sink_.EndSamples();
    return decoder_.Take(sink_);
  }
  SampleSink sink_;
  Decoder decoder_;
  std::unique_ptr<CollectorSession> session_;
};

TEST_F(NvmlCollector, WritesWhatTheGpuSays) {
  const Taken taken = Look(0);
  EXPECT_DOUBLE_EQ(taken["gpu.utilization@0"], 0.75);
  EXPECT_DOUBLE_EQ(taken["gpu.memory_utilization@0"], 0.4);
  EXPECT_DOUBLE_EQ(taken["gpu.memory.used@0"], 20e9);
  EXPECT_DOUBLE_EQ(taken["gpu.clock.sm@0"], 1410e6);
  EXPECT_DOUBLE_EQ(taken["gpu.clock.memory@0"], 1593e6);
  EXPECT_DOUBLE_EQ(taken["gpu.power@0"], 312.5);
  EXPECT_DOUBLE_EQ(taken["gpu.power.limit@0"], 400);
  EXPECT_DOUBLE_EQ(taken["gpu.temperature@0"], 71);
  EXPECT_DOUBLE_EQ(taken["gpu.pcie.width@0"], 8);
  EXPECT_DOUBLE_EQ(taken["gpu.ecc.corrected@0"], 3);
  EXPECT_DOUBLE_EQ(taken["gpu.throttle.power_cap@0"], 1);
  EXPECT_DOUBLE_EQ(taken["gpu.throttle.sw_thermal@0"], 1);
  EXPECT_DOUBLE_EQ(taken["gpu.throttle.hw_thermal@0"], 0);
  EXPECT_EQ(taken.units.at("gpu.power@0"), "W");
  EXPECT_EQ(taken.texts.at("gpu.driver"), "570.86.15");
  EXPECT_EQ(taken.texts.at("gpu.0.pci_bus_id"), "0000:3b:00.0");
  EXPECT_EQ(taken.texts.at("gpu.0.pcie_max"), "gen4 x16");
}

TEST_F(NvmlCollector, AGpuThatCannotBeReachedHasNoValues) {
  const Taken taken = Look(0);
  for (const auto& [name, value] : taken.values) EXPECT_EQ(name.find("@1"), std::string::npos) << name;
}

TEST_F(NvmlCollector, TotalsAndRates) {
  const double before = Look(0)["gpu.energy@0"];
  const Taken after = Look(1000);
  EXPECT_DOUBLE_EQ(after["gpu.energy@0"] - before, 5);
  EXPECT_DOUBLE_EQ(after["gpu.nvlink.send@0"], 2 * 1024.0 * 1024);  // two questions of 1024 KiB lie between
  EXPECT_FALSE(after.Has("gpu.nvlink.receive@0"));                  // not supported, so absent
}

TEST_F(NvmlCollector, PcieTakesTurns) {
  const Taken first = Look(0), second = Look(300);
  EXPECT_DOUBLE_EQ(first["gpu.pcie.send@0"], 1e9);
  EXPECT_FALSE(first.Has("gpu.pcie.receive@0"));
  EXPECT_DOUBLE_EQ(second["gpu.pcie.receive@0"], 2.5e9);
}

TEST_F(NvmlCollector, ForeignProcessesAreThoseOfNobodyInTheRun) {
  const Taken taken = Look(0, {4242, 5000});
  EXPECT_DOUBLE_EQ(taken["gpu.processes@0"], 2);
  EXPECT_DOUBLE_EQ(taken["gpu.processes.foreign@0"], 1);  // pid 7
  EXPECT_DOUBLE_EQ(taken["gpu.memory.foreign@0"], 1e9);
}

TEST_F(NvmlCollector, WithPidsOfAnotherNamespaceNothingIsSaidAboutForeignOnes) {
  const Taken taken = Look(0, {5000});
  EXPECT_DOUBLE_EQ(taken["gpu.processes@0"], 2);
  EXPECT_FALSE(taken.Has("gpu.processes.foreign@0"));
}

TEST_F(NvmlCollector, SaysWhyThereIsNothing) {
  const auto missing = nvml_collector.open({.nvml_library = "libno-such-thing.so.1"}, sink_);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("not installed"), std::string::npos);
  setenv("GAPLESS_STANDIN_NVML", "no_driver", 1);
  const auto no_driver = nvml_collector.open({.nvml_library = kStandin}, sink_);
  ASSERT_FALSE(no_driver);
  EXPECT_NE(no_driver.error().message.find("Driver Not Loaded"), std::string::npos);
  setenv("GAPLESS_STANDIN_NVML", "no_gpu", 1);
  const auto no_gpu = nvml_collector.open({.nvml_library = kStandin}, sink_);
  ASSERT_FALSE(no_gpu);
  EXPECT_NE(no_gpu.error().message.find("no GPU"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal::nvml_collector
