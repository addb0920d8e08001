// SPDX-License-Identifier: Apache-2.0
// AMD's boards in a made-up /sys, with tests/standins/amd_smi.cc, which counts the energy of the one at 0000:c1:00.0.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "collect/power.h"
#include "collect/telemetry/proc.h"
#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal {
namespace {

class AmdPowerTest : public ::testing::Test {
 protected:
  static constexpr const char* kVariables[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                                               kKeepGpuSettings};
  AmdPowerTest() {
    for (const char* name : kVariables) unsetenv(name);
    Card("card1", "0000:c1:00.0", "hwmon4");
    File("card1", "product_name", "AMD Instinct MI300X");
    File("card1", "unique_id", "8f3a");
    Card("card0", "0000:03:00.0", "hwmon1");
    sources_ = root_.sources();
    sources_.amd_smi_library = GAPLESS_STANDINS "/libamd_smi.so.1";
  }
  ~AmdPowerTest() override {
    for (const char* name : kVariables) unsetenv(name);
  }
  void File(const std::string& card, const std::string& name, const std::string& value) const {
    root_.Write("/sys/class/drm/" + card + "/device/" + name, value + "\n");
  }
  void Card(const std::string& card, const std::string& address, const std::string& sensors) const {
    File(card, "vendor", "0x1002");
    File(card, "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=" + address);
    const std::string cap = "hwmon/" + sensors + "/power1_cap";
    File(card, cap, "650000000");
    File(card, cap + "_min", "0");
    File(card, cap + "_max", "750000000");
    File(card, cap + "_default", "750000000");
  }
  // Queues of a process, as kfd has them, on the GPU that it calls 51110: the one that counts.
  void Process(int64_t pid, const std::string& gpu) const {
    root_.Write("/sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
    root_.Write("/sys/class/kfd/kfd/topology/nodes/0/properties", "location_id 0\ndomain 0\n");
    root_.Write("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51110\n");
    root_.Write("/sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 1216\nlocation_id 49408\ndomain 0\n");
    root_.Write("/sys/class/kfd/kfd/proc/" + std::to_string(pid) + "/queues/3/gpuid", gpu + "\n");
  }
  std::string CapFile() const { return root_.folder() + "/sys/class/drm/card1/device/hwmon/hwmon4/power1_cap"; }
  std::string Why() const {
    const auto opened = PowerBoards::Open(sources_, PowerKnob::kLimit);
    return opened ? "" : opened.error().message;
  }

  testing::FakeRoot root_;
  TelemetrySources sources_;
};

TEST_F(AmdPowerTest, SetsLimitsAndGivesThemBack) {
  setenv("ROCR_VISIBLE_DEVICES", "GPU-8f3a,0", 1);
  setenv("HIP_VISIBLE_DEVICES", "0", 1);
  auto watchdog = PowerWatchdog::Start(sources_, PowerKnob::kLimit);
  ASSERT_TRUE(watchdog) << watchdog.error().message;
  {
    auto boards = PowerBoards::Open(sources_, PowerKnob::kLimit);
    ASSERT_TRUE(boards) << boards.error().message;
    ASSERT_EQ(boards->boards().size(), 1U) << "the first of those that ROCm sees";
    const PowerBoard& board = boards->boards()[0];
    EXPECT_EQ(board.name, "AMD Instinct MI300X");
    EXPECT_EQ(board.index, 1U) << "0000:03:00.0 comes before 0000:c1:00.0";
    EXPECT_DOUBLE_EQ(board.found, 650);
    EXPECT_DOUBLE_EQ(board.most, 750);
    EXPECT_DOUBLE_EQ(board.least, 188) << "no board computes with 0 W";
    const double before = boards->Joules(0).value_or(0);
    EXPECT_NEAR(boards->Joules(0).value_or(0) - before, 15.3, 1e-5);
    ASSERT_TRUE(boards->CheckPermission(*watchdog));
    ASSERT_TRUE(boards->SetAll(412));
    EXPECT_EQ(ReadLineOf(CapFile()), "412000000");
    EXPECT_EQ(boards->SetCommand(412), "echo 412000000 | sudo tee " + CapFile());
  }
  EXPECT_EQ(ReadLineOf(CapFile()), "650000000");
}

// The child sets a limit and dies of SIGKILL; its watchdog does not.
TEST_F(AmdPowerTest, TheWatchdogGivesLimitsBack) {
  setenv("HIP_VISIBLE_DEVICES", "1", 1);
  const pid_t child = fork();
  if (child == 0) {
    auto watchdog = PowerWatchdog::Start(sources_, PowerKnob::kLimit);
    if (!watchdog) _exit(1);
    auto boards = PowerBoards::Open(sources_, PowerKnob::kLimit);
    if (!boards || !boards->CheckPermission(*watchdog) || !boards->SetAll(300)) _exit(2);
    if (ReadLineOf(CapFile()) != "300000000") _exit(3);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  for (int wait = 0; wait < 3000 && ReadLineOf(CapFile()) != "650000000"; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(ReadLineOf(CapFile()), "650000000");
}

TEST_F(AmdPowerTest, KeepsToTheGpusOfTheCommand) {
  setenv("HIP_VISIBLE_DEVICES", "1", 1);
  auto boards = PowerBoards::Open(sources_, PowerKnob::kLimit);
  ASSERT_TRUE(boards) << boards.error().message;
  const int64_t ours[] = {4242};
  Process(4242, "51110");
  EXPECT_TRUE(boards->KeepThoseOf(ours));
  Process(7, "60000");
  EXPECT_TRUE(boards->KeepThoseOf(ours)) << "on another GPU";
  Process(8, "51110");
  const auto kept = boards->KeepThoseOf(ours);
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message.find("another program computes"), std::string::npos);
}

TEST_F(AmdPowerTest, SaysWhyNot) {
  EXPECT_EQ(Why(), "the GPU's energy is not counted") << "of card0";
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_EQ(Why(), "");
  File("card1", "current_compute_partition", "CPX");
  EXPECT_EQ(Why(), "the GPU is divided (CPX): its energy belongs to no part of it");
  File("card1", "current_compute_partition", "SPX");
  File("card1", "hwmon/hwmon4/power1_cap_max", "0");
  EXPECT_EQ(Why(), "the GPU's power limit cannot be changed");
  setenv(kKeepGpuSettings, "1", 1);
  EXPECT_EQ(Why(), "settings of this machine's GPUs are not to be changed");
  unsetenv(kKeepGpuSettings);
  const auto clocks = PowerBoards::Open(sources_, PowerKnob::kClock);
  ASSERT_FALSE(clocks);
  EXPECT_EQ(clocks.error().message, "clocks of AMD GPUs are not changed");
  EXPECT_EQ(clocks.error().hint, "tune their power limits instead: --by limits");
}

TEST_F(AmdPowerTest, ALimitThatIsRefused) {
  setenv("HIP_VISIBLE_DEVICES", "1", 1);
  auto watchdog = PowerWatchdog::Start(sources_, PowerKnob::kLimit);
  ASSERT_TRUE(watchdog);
  auto boards = PowerBoards::Open(sources_, PowerKnob::kLimit);
  ASSERT_TRUE(boards);
  ASSERT_TRUE(boards->CheckPermission(*watchdog));
  root_.Remove("/sys/class/drm/card1/device/hwmon/hwmon4/power1_cap");
  const auto set = boards->SetAll(300);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message, "the GPU refused 300 W");
  EXPECT_FALSE(boards->Restore());
  File("card1", "hwmon/hwmon4/power1_cap", "300000000");
  EXPECT_TRUE(boards->Restore());
  EXPECT_EQ(ReadLineOf(CapFile()), "650000000");
}

TEST_F(AmdPowerTest, GpusOfNvidiaComeFirst) {
  sources_.nvml_library = GAPLESS_STANDINS "/libnvidia-ml.so.1";
  const auto driver = OpenPowerDriver(sources_, PowerKnob::kLimit);
  ASSERT_TRUE(driver);
  EXPECT_EQ((*driver)->visible_variable(), "CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace gapless::internal
