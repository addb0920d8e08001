// SPDX-License-Identifier: Apache-2.0
// Peak rates of GPUs from the vendors' data sheets: data/devices.csv, which is part of the program.
#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace gapless::internal {

// A figure that the device does not have, or that the vendor does not say, is NaN, and such a text is empty.
struct DevicePeaks {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::string_view name;                // ours: "A100 SXM4 80GB"
  std::vector<std::string_view> names;  // as recorders write it
  std::string_view vendor;              // nvidia, amd
  std::string_view architecture;        // Volta, CDNA 3 …
  std::string_view compute_capability;  // "8.0"; NVIDIA only
  double sm_count = kNone;              // multiprocessors, compute units
  // Dense TFLOP/s. fp16, bf16, tf32, fp8, fp4 and those named matrix: on matrix units; fp16 and bf16 accumulate in
  // fp32.
  double fp64 = kNone, fp64_matrix = kNone, fp32 = kNone, fp32_matrix = kNone;
  double tf32 = kNone, fp16 = kNone, bf16 = kNone, fp8 = kNone, fp4 = kNone;
  double memory_gbps = kNone;
  double memory_gb = kNone;  // decimal, as marketed
  double l2_mib = kNone;
  double link_gbps = kNone;  // NVLink, xGMI: all links, both directions
  double pcie = kNone;       // generation
  double board_power_w = kNone;
  std::string_view source;  // the vendor's document
};

// Every row of the table, in its order. Built on first use; safe from any thread.
std::span<const DevicePeaks> AllDevicePeaks();

// The device a recorder calls `recorded_name` ("NVIDIA A100-SXM4-80GB", "AMD Instinct MI300X"); nullptr: not in the
// table, no name, or a name that stands for a part of a device (MIG) or another product (laptops).
const DevicePeaks* FindDevicePeaks(std::string_view recorded_name);

}  // namespace gapless::internal
