// SPDX-License-Identifier: Apache-2.0
// Two GPUs in a made-up /sys/class/drm, of which tests/standins/amd_smi.cc counts the energy of one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "collect/telemetry/collector.h"
#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal::amdgpu_collector {

extern const Collector amdgpu_collector;

namespace {

using testing::Decoder;
using testing::FakeRoot;
using testing::Taken;

constexpr const char* kStandin = GAPLESS_STANDINS "/libamd_smi.so.1";

class AmdCollector : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("GAPLESS_STANDIN_AMD"); }
  void Card(const std::string& card, const std::string& vendor, const std::string& address) const {
    const std::string folder = "/sys/class/drm/" + card + "/device/";
    root_.Write(folder + "vendor", vendor + "\n");
    root_.Write(folder + "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=" + address + "\n");
  }
  void File(const std::string& card, const std::string& name, const std::string& value) const {
    root_.Write("/sys/class/drm/" + card + "/device/" + name, value + "\n");
  }
  TelemetrySources Sources(const std::string& library) const {
    TelemetrySources sources = root_.sources();
    sources.amd_smi_library = library;
    return sources;
  }
  Taken Look(const std::string& library, int64_t ms) {
    if (session_ == nullptr) {
      auto opened = amdgpu_collector.open(Sources(library), sink_);
      EXPECT_TRUE(opened);
      session_ = std::move(*opened);
    }
    session_->Sample({.unix_ns = ms * 1'000'000, .mono_ns = ms * 1'000'000}, sink_);
    sink_.EndSamples();
    return decoder_.Take(sink_);
  }
  FakeRoot root_;
  SampleSink sink_;
  Decoder decoder_;
  std::unique_ptr<CollectorSession> session_;
};

TEST_F(AmdCollector, CountsByPciAddressAndTakesWhatThereIs) {
  Card("card1", "0x1002", "0000:03:00.0");
  Card("card0", "0x1002", "0000:c1:00.0");
  Card("card2", "0x10de", "0000:e1:00.0");  // NVIDIA's
  root_.Write("/sys/class/drm/card0-DP-1/status", "connected\n");
  File("card0", "gpu_busy_percent", "87");
  File("card0", "mem_info_vram_used", "12000000000");
  File("card0", "product_name", "AMD Instinct MI300X");
  File("card0", "hwmon/hwmon4/power1_input", "612000000");
  File("card0", "hwmon/hwmon4/power1_cap", "750000000");
  File("card0", "hwmon/hwmon4/freq1_input", "2100000000");
  File("card0", "hwmon/hwmon4/temp1_input", "51000");
  File("card0", "hwmon/hwmon4/temp2_input", "68000");
  File("card1", "hwmon/hwmon1/power1_average", "25000000");
  const Taken first = Look(kStandin, 0), second = Look(kStandin, 200);
  EXPECT_DOUBLE_EQ(first["gpu.power@0"], 25) << "0000:03:00.0 comes before 0000:c1:00.0";
  EXPECT_DOUBLE_EQ(first["gpu.utilization@1"], 0.87);
  EXPECT_DOUBLE_EQ(first["gpu.memory.used@1"], 12e9);
  EXPECT_DOUBLE_EQ(first["gpu.power@1"], 612);
  EXPECT_DOUBLE_EQ(first["gpu.power.limit@1"], 750);
  EXPECT_DOUBLE_EQ(first["gpu.clock.sm@1"], 2.1e9);
  EXPECT_DOUBLE_EQ(first["gpu.temperature@1"], 68);
  EXPECT_NEAR(second["gpu.energy@1"] - first["gpu.energy@1"], 15.3, 1e-5);
  EXPECT_FALSE(first.Has("gpu.energy@0")) << "it does not count";
  EXPECT_FALSE(first.Has("gpu.utilization@0")) << "it has no such file";
  EXPECT_EQ(first.texts.at("gpu.1.name"), "AMD Instinct MI300X");
  EXPECT_EQ(first.texts.at("gpu.1.pci_bus_id"), "0000:c1:00.0");
}

TEST_F(AmdCollector, WithoutTheLibraryTheFilesAreLeft) {
  Card("card0", "0x1002", "0000:c1:00.0");
  File("card0", "gpu_busy_percent", "50");
  setenv("GAPLESS_STANDIN_AMD", "no_driver", 1);
  for (const char* library : {"", "libno-such-thing.so", kStandin}) {
    session_ = nullptr;
    const Taken taken = Look(library, 0);
    EXPECT_DOUBLE_EQ(taken["gpu.utilization@0"], 0.5);
    EXPECT_FALSE(taken.Has("gpu.energy@0"));
  }
}

TEST_F(AmdCollector, NoneOrBesideThoseOfNvidia) {
  EXPECT_FALSE(amdgpu_collector.open(Sources(""), sink_));
  Card("card0", "0x1002", "0000:c1:00.0");
  TelemetrySources both = Sources("");
  both.nvml_library = GAPLESS_STANDINS "/libnvidia-ml.so.1";
  const auto opened = amdgpu_collector.open(both, sink_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("NVIDIA"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal::amdgpu_collector
