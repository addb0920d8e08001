// SPDX-License-Identifier: Apache-2.0
// Each check on a machine made up for it: folders in place of /proc and /sys, answers in place of programs.
#include "collect/doctor/check.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>

#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal {
namespace {

using testing::FakeRoot;

class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    around_.sources = root_.sources();
    around_.shared_memory = root_.folder() + "/shm";
    around_.environment = [this](std::string_view name) -> std::optional<std::string> {
      const auto at = variables_.find(std::string(name));
      return at == variables_.end() ? std::nullopt : std::optional(at->second);
    };
    around_.output_of = [this](const std::vector<std::string>& argv) -> std::optional<std::vector<std::string>> {
      const auto at = programs_.find(argv[0]);
      return at == programs_.end() ? std::nullopt : std::optional(at->second);
    };
    around_.soft_limit = [this](int resource) -> std::optional<uint64_t> {
      const auto at = limits_.find(resource);
      return at == limits_.end() ? std::nullopt : std::optional(at->second);
    };
  }
  void UseGpu() {
    auto library = nvml::Library::Open(GAPLESS_STANDINS "/libnvidia-ml.so.1");
    ASSERT_TRUE(library);
    around_.nvml = *library;
  }
  std::vector<HealthFinding> Look(std::string_view check) const {
    for (const DoctorCheck* doctor_check : AllDoctorChecks())
      if (doctor_check->name == check) return doctor_check->look(around_);
    ADD_FAILURE() << "no check " << check;
    return {};
  }
  // Returns the only finding of a check.
  HealthFinding Only(std::string_view check) const {
    const auto findings = Look(check);
    EXPECT_EQ(findings.size(), 1U) << check;
    return findings.empty() ? HealthFinding() : findings[0];
  }

  FakeRoot root_;
  Surroundings around_;
  std::map<std::string, std::string> variables_;
  std::map<std::string, std::vector<std::string>> programs_;
  std::map<int, uint64_t> limits_;
};

TEST_F(Doctor, AMachineWithoutGpuIsNoProblem) {
  const auto finding = Only("driver");
  EXPECT_EQ(finding.health, Health::kUnknown);
  EXPECT_NE(finding.saw.find("no NVIDIA GPU"), std::string::npos);
}

TEST_F(Doctor, AGpuWithoutDriverIsAProblem) {
  root_.Write("/sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
  root_.Write("/sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
  around_.nvml_error = {ErrorCode::kEnvironment, "the library is not installed", "", "install it"};
  const auto finding = Only("driver");
  EXPECT_EQ(finding.health, Health::kProblem);
  EXPECT_EQ(finding.saw, "the library is not installed");
  EXPECT_EQ(finding.fix, "install it");
}

TEST_F(Doctor, TheStandInsGpu) {
  UseGpu();
  EXPECT_EQ(Only("driver").health, Health::kProblem);  // its second GPU is lost
  EXPECT_EQ(Only("gpu_persistence").health, Health::kWarning);
  EXPECT_EQ(Only("gpu_persistence").fix, "sudo nvidia-smi -i 0 -pm 1");
  EXPECT_EQ(Only("gpu_clocks").health, Health::kWarning);
  EXPECT_EQ(Only("gpu_clocks").saw, "1410 of 1980 MHz, held by power_cap, sw_thermal");
  EXPECT_EQ(Only("gpu_ecc").health, Health::kOk);
  EXPECT_EQ(Only("gpu_ecc").saw, "3 corrected, 0 not corrected since the start");
  EXPECT_TRUE(Look("gpu_mig").empty());  // not supported there
  EXPECT_EQ(Only("gpu_pcie").health, Health::kWarning);
  EXPECT_EQ(Only("gpu_pcie").subject, "GPU 0 PCIe");
}

TEST_F(Doctor, ProcessorsBesideTheGpu) {
  UseGpu();
  root_.Write("/proc/self/status", "Cpus_allowed:\tff\nCpus_allowed_list:\t0-3\n");
  root_.Write("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  root_.Write("/sys/devices/system/node/node1/cpulist", "4-7\n");
  EXPECT_EQ(Only("gpu_numa").health, Health::kWarning);
  EXPECT_EQ(Only("gpu_numa").fix, "numactl --cpunodebind=1 --membind=1 COMMAND");
  root_.Write("/sys/devices/system/node/node1/cpulist", "2-7\n");
  EXPECT_EQ(Only("gpu_numa").health, Health::kOk);
  EXPECT_EQ(Only("gpu_numa").saw, "NUMA node 1, 2 of 4 processors beside it");
}

TEST_F(Doctor, RestrictedCounters) {
  EXPECT_TRUE(Look("gpu_counters").empty());
  root_.Write("/proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
  EXPECT_EQ(Only("gpu_counters").health, Health::kWarning);
  around_.privileged = true;
  EXPECT_EQ(Only("gpu_counters").health, Health::kOk);
  root_.Write("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  around_.privileged = false;
  EXPECT_EQ(Only("gpu_counters").health, Health::kOk);
}

TEST_F(Doctor, Permissions) {
  EXPECT_EQ(Only("perf_events").health, Health::kUnknown);
  root_.Write("/proc/sys/kernel/perf_event_paranoid", "4\n");
  EXPECT_EQ(Only("perf_events").health, Health::kWarning);
  root_.Write("/proc/sys/kernel/perf_event_paranoid", "1\n");
  EXPECT_EQ(Only("perf_events").health, Health::kOk);
  EXPECT_EQ(Only("ptrace").health, Health::kOk);
  root_.Write("/proc/sys/kernel/yama/ptrace_scope", "1\n");
  EXPECT_EQ(Only("ptrace").health, Health::kWarning);
}

TEST_F(Doctor, Limits) {
  limits_ = {{RLIMIT_NOFILE, 1024}, {RLIMIT_MEMLOCK, 65536}};
  const auto low = Look("limits");
  ASSERT_EQ(low.size(), 2U);
  EXPECT_EQ(low[0].health, Health::kWarning);
  EXPECT_EQ(low[0].saw, "1,024");
  EXPECT_EQ(low[1].health, Health::kWarning);
  limits_.clear();  // unlimited
  for (const auto& finding : Look("limits")) EXPECT_EQ(finding.health, Health::kOk);
}

TEST_F(Doctor, SharedMemory) {
  EXPECT_EQ(Only("shared_memory").health, Health::kUnknown);  // no such folder
}

TEST_F(Doctor, Governor) {
  EXPECT_EQ(Only("governor").health, Health::kUnknown);
  root_.Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  EXPECT_EQ(Only("governor").health, Health::kOk);
  root_.Write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(Only("governor").health, Health::kWarning);
  EXPECT_EQ(Only("governor").saw, "performance on 1, powersave on 1");
}

TEST_F(Doctor, EnergyOfTheProcessors) {
  EXPECT_EQ(Only("rapl").health, Health::kUnknown);
  root_.Write("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
  root_.Write("/sys/class/powercap/intel-rapl:0:0/name", "core\n");
  EXPECT_EQ(Only("rapl").health, Health::kWarning);  // its counter is not readable
  root_.Write("/sys/class/powercap/intel-rapl:0/energy_uj", "12345\n");
  EXPECT_EQ(Only("rapl").health, Health::kOk);
  EXPECT_EQ(Only("rapl").saw, "1 package is counted");
}

TEST_F(Doctor, QuotaOfTheControlGroup) {
  root_.Write("/proc/stat", "cpu 1 1\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1\n");
  EXPECT_EQ(Only("cpu_quota").health, Health::kOk);
  root_.Write("/proc/self/cgroup", "0::/job/step\n");
  root_.Write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");  // above the process's own group
  root_.Write("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(Only("cpu_quota").health, Health::kWarning);
  EXPECT_EQ(Only("cpu_quota").saw, "1.5 of 4 processors");
  root_.Write("/proc/self/cgroup", "4:cpu,cpuacct:/old\n0::/\n");  // version 1
  root_.Write("/sys/fs/cgroup/cpu,cpuacct/old/cpu.cfs_quota_us", "200000\n");
  root_.Write("/sys/fs/cgroup/cpu,cpuacct/old/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Only("cpu_quota").saw, "2.0 of 4 processors");
}

TEST_F(Doctor, Tools) {
  programs_["ncu"] = {"NVIDIA (R) Nsight Compute Command Line Profiler", "Copyright (c) 2018-2024 NVIDIA Corporation",
                      "Version 2024.1.1.0 (build 33998838) (public-release)"};
  const auto findings = Look("tools");
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(findings[0].health, Health::kUnknown);  // nsys
  EXPECT_FALSE(findings[0].fix.empty());
  EXPECT_EQ(findings[1].health, Health::kOk);
  EXPECT_EQ(findings[1].saw, "Version 2024.1.1.0 (build 33998838) (public-relea…");
}

TEST_F(Doctor, PyTorch) {
  EXPECT_EQ(Only("pytorch").health, Health::kWarning);  // no python3
  programs_["python3"] = {"python 3.11.7"};
  EXPECT_EQ(Only("pytorch").saw, "not in python 3.11.7");
  programs_["python3"] = {"python 3.11.7", "torch 1.13.1"};
  EXPECT_EQ(Only("pytorch").health, Health::kWarning);
  programs_["python3"] = {"python 3.11.7", "torch 2.6.0+cu124"};
  EXPECT_EQ(Only("pytorch").health, Health::kOk);
  EXPECT_EQ(Only("pytorch").saw, "2.6.0+cu124, python 3.11.7");
}

TEST_F(Doctor, AnotherProfiler) {
  EXPECT_EQ(Only("other_profiler").health, Health::kOk);
  variables_["CUDA_INJECTION64_PATH"] = "/opt/libToolsInjection64.so";
  EXPECT_EQ(Only("other_profiler").health, Health::kWarning);
  EXPECT_EQ(Only("other_profiler").fix, "unset CUDA_INJECTION64_PATH");
}

TEST_F(Doctor, TheWorstComesFirst) {
  UseGpu();
  const auto all = Examine(around_);
  ASSERT_GT(all.size(), 8U);
  EXPECT_EQ(all.front().finding.health, Health::kProblem);
  EXPECT_EQ(all.back().finding.health, Health::kUnknown);
  for (const auto& [check, finding] : all) {
    EXPECT_LE(finding.subject.size(), 20U) << check;
    EXPECT_FALSE(finding.saw.empty()) << check;
    if (finding.health == Health::kOk) continue;
    EXPECT_TRUE(finding.health == Health::kUnknown || !finding.why.empty()) << check;
  }
}

TEST_F(Doctor, ChecksDescribeThemselves) {
  for (const DoctorCheck* check : AllDoctorChecks()) {
    EXPECT_FALSE(check->help.empty()) << check->name;
    EXPECT_EQ(check->help.find('\n'), std::string_view::npos);
  }
}

TEST(RealSurroundings, CanBeLookedAt) {
  const auto all = Examine(RealSurroundings());
  EXPECT_GT(all.size(), 8U);
}

}  // namespace
}  // namespace gapless::internal
