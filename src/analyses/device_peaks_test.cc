// SPDX-License-Identifier: Apache-2.0
// The table against what data sheets state, and against itself.
#include "analyses/device_peaks.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <set>
#include <string>

namespace gapless::internal {
namespace {

double Of(std::string_view name, double DevicePeaks::*figure) {
  const DevicePeaks* peaks = FindDevicePeaks(name);
  return peaks == nullptr ? -1 : peaks->*figure;
}

TEST(DevicePeaks, SayWhatTheDataSheetSays) {
  EXPECT_EQ(Of("Tesla V100-SXM2-32GB", &DevicePeaks::fp16), 125);
  EXPECT_EQ(Of("Tesla V100-PCIE-16GB", &DevicePeaks::fp32), 14);
  EXPECT_EQ(Of("Tesla T4", &DevicePeaks::fp16), 65);
  EXPECT_EQ(Of("NVIDIA A100-SXM4-80GB", &DevicePeaks::bf16), 312);
  EXPECT_EQ(Of("NVIDIA A100-SXM4-80GB", &DevicePeaks::memory_gbps), 2039);
  EXPECT_EQ(Of("NVIDIA A100-SXM4-40GB", &DevicePeaks::memory_gbps), 1555);
  EXPECT_EQ(Of("NVIDIA A100 80GB PCIe", &DevicePeaks::memory_gbps), 1935);
  EXPECT_EQ(Of("NVIDIA H100 80GB HBM3", &DevicePeaks::bf16), 989.5) << "1979 is with sparsity";
  EXPECT_EQ(Of("NVIDIA H100 PCIe", &DevicePeaks::board_power_w), 350);
  EXPECT_EQ(Of("NVIDIA H200", &DevicePeaks::memory_gbps), 4800);
  EXPECT_EQ(Of("NVIDIA L40S", &DevicePeaks::fp8), 733);
  EXPECT_EQ(Of("NVIDIA GeForce RTX 4090", &DevicePeaks::bf16), 165.2) << "with accumulation in fp32";
  EXPECT_EQ(Of("NVIDIA B200", &DevicePeaks::fp8), 4500);
  EXPECT_EQ(Of("AMD Instinct MI210", &DevicePeaks::fp32_matrix), 45.3);
  EXPECT_EQ(Of("AMD Instinct MI300X VF", &DevicePeaks::bf16), 1307.4);
  EXPECT_EQ(Of("AMD Instinct MI250X", &DevicePeaks::fp16), 191.5) << "one of two devices of a board";
  EXPECT_EQ(Of("AMD Instinct MI355X", &DevicePeaks::memory_gbps), 8000);
}

TEST(DevicePeaks, AnotherProductIsNotInTheTable) {
  for (const std::string_view name : {"", "NVIDIA GeForce RTX 3080 Ti Laptop GPU", "NVIDIA GeForce RTX 4090 Laptop GPU",
                                      "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "AMD Radeon Graphics", "A100"})
    EXPECT_EQ(FindDevicePeaks(name), nullptr) << name;
}

TEST(DevicePeaks, AbsentIsNotANumber) {
  EXPECT_TRUE(std::isnan(Of("Tesla V100-SXM2-32GB", &DevicePeaks::tf32)));
  EXPECT_TRUE(std::isnan(Of("Tesla V100-SXM2-32GB", &DevicePeaks::bf16)));
  EXPECT_TRUE(std::isnan(Of("Quadro GP100", &DevicePeaks::fp16))) << "no matrix units";
}

// a ≥ b, where both are known.
bool NoLess(double a, double b) { return std::isnan(a) || std::isnan(b) || a >= b; }

TEST(DevicePeaks, EveryRowIsWholeAndInOrder) {
  std::set<std::string_view> names;
  ASSERT_GE(AllDevicePeaks().size(), 100u);
  for (const DevicePeaks& device : AllDevicePeaks()) {
    EXPECT_FALSE(device.source.empty()) << device.name;
    EXPECT_FALSE(device.names.empty()) << device.name;
    EXPECT_TRUE(device.vendor == "nvidia" || device.vendor == "amd") << device.name;
    EXPECT_GT(device.fp32, 0) << device.name;
    EXPECT_TRUE(std::isnan(device.memory_gbps) || (device.memory_gbps >= 150 && device.memory_gbps <= 10'000))
        << device.name;
    EXPECT_TRUE(NoLess(device.fp16, device.tf32)) << device.name;
    EXPECT_TRUE(NoLess(device.tf32, device.fp32)) << device.name;
    EXPECT_TRUE(NoLess(device.fp16, device.fp32)) << device.name;
    EXPECT_TRUE(NoLess(device.fp16, device.bf16)) << device.name;
    EXPECT_TRUE(NoLess(device.fp32_matrix, device.fp32)) << device.name;
    EXPECT_TRUE(NoLess(device.fp64_matrix, device.fp64)) << device.name;
    EXPECT_TRUE(NoLess(device.fp8, device.fp16)) << device.name;
    EXPECT_TRUE(NoLess(device.fp4, device.fp8)) << device.name;
    for (const std::string_view name : device.names) {
      EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
      EXPECT_EQ(FindDevicePeaks(name), &device) << name << " finds another row";
    }
  }
}

// Returns true if a is b within the rounding of data sheets, or one of them is absent.
bool IsNear(double a, double b) { return std::isnan(a) || std::isnan(b) || std::abs(a - b) <= 0.04 * b; }

bool IsFromAmpereOn(const DevicePeaks& device) {
  return device.vendor == "nvidia" && device.compute_capability != "" && device.compute_capability[0] != '6' &&
         device.compute_capability[0] != '7';
}

TEST(DevicePeaks, PrecisionsStandInTheProportionsOfTheArchitecture) {
  for (const DevicePeaks& device : AllDevicePeaks()) {
    if (!IsFromAmpereOn(device)) continue;
    EXPECT_TRUE(IsNear(device.tf32, device.fp16 / 2)) << device.name;
    EXPECT_TRUE(IsNear(device.bf16, device.fp16)) << device.name;
    EXPECT_TRUE(IsNear(device.fp8, 2 * device.fp16)) << device.name;
  }
}

TEST(DevicePeaks, GeForceAccumulatesInFp32AtHalfTheRateOfWorkstations) {
  size_t consumer = 0, workstation = 0;
  for (const DevicePeaks& device : AllDevicePeaks()) {
    const std::string_view name = device.names[0];
    if (name.starts_with("GeForce RTX")) {
      const double rate = device.architecture == "Turing" ? 4 : 2;
      EXPECT_TRUE(IsNear(device.fp16, rate * device.fp32)) << name;
      ++consumer;
    } else if (name.starts_with("RTX ") || name.starts_with("Quadro RTX")) {
      const double rate = device.architecture == "Turing" ? 8 : 4;
      EXPECT_TRUE(IsNear(device.fp16, rate * device.fp32)) << name;
      ++workstation;
    }
  }
  EXPECT_GE(consumer, 25u);
  EXPECT_GE(workstation, 10u);
}

TEST(DevicePeaks, MemoryThatTwoProductsOfOneNameDoNotShareIsAbsent) {
  EXPECT_TRUE(std::isnan(Of("NVIDIA GeForce RTX 4070", &DevicePeaks::memory_gbps))) << "GDDR6 and GDDR6X";
  EXPECT_EQ(Of("NVIDIA GeForce RTX 4070 Ti", &DevicePeaks::memory_gbps), 504);
}

TEST(DevicePeaks, NamesStayApartWithoutVendorCaseAndDashes) {
  std::set<std::string> plain;
  for (const DevicePeaks& device : AllDevicePeaks())
    for (const std::string_view name : device.names) {
      std::string text;
      for (const char c : name)
        text.push_back(c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      for (const std::string_view vendor : {"nvidia ", "amd ", "tesla "})
        if (text.starts_with(vendor)) text.erase(0, vendor.size());
      EXPECT_TRUE(plain.insert(text).second) << name;
    }
}

}  // namespace
}  // namespace gapless::internal
