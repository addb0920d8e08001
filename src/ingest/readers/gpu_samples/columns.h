// SPDX-License-Identifier: Apache-2.0
// A Column is a column of a tool that samples GPUs, and the series of telemetry (docs/formats/telemetry.md) that
// it is. Series and unit are set for kValue only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gapless::internal::gpu_samples {

struct Column {
  enum class Kind : uint8_t {
    kIgnored,
    kValue,
    kTimestamp,
    kDate,
    kTime,
    kDevice,
    kDeviceName,
    kUuid,
    kBusId,
    kMemoryTotal,
    kThrottleMask,
    kEnergy,  // joules of a window of time
    kWindow   // seconds that the window lasts
  } kind = Kind::kIgnored;
  std::string series{}, unit{};
  double factor = 1;        // from the printed unit, where the cell prints none
  int32_t device = -1;      // of a column that is about one GPU, "system.gpu.0.gpu"; else negative
  bool is_certain = false;  // only tools that sample GPUs name a column so: "utilization.gpu", but not "temperature"
};

// A column of `nvidia-smi --query-gpu`, "utilization.gpu [%]", of amd-smi, rocm-smi, W&B, nvitop, Zeus, or as scripts
// spell it in a head of their own, "gpu_util_pct".
Column QueryColumn(std::string_view printed);
// A column of `nvidia-smi dmon`: "pwr", with the unit of the line below it.
Column DmonColumn(std::string_view printed, std::string_view unit);
// A column of `dcgmi dmon`: "SMACT".
Column DcgmColumn(std::string_view printed);

// A value of a report, by its section and name: ("FB Memory Usage", "Used") of nvidia-smi -q, or ("fb_memory_usage",
// "used") of its XML.
Column ReportColumn(std::string_view section, std::string_view name);
// A metric of Prometheus: of the DCGM exporter, or of nvidia_gpu_exporter.
Column MetricColumn(std::string_view name);
// "FB Memory Usage (B)" as "fb_memory_usage": lower case, without unit, other signs as "_".
std::string PlainName(std::string_view printed);

// A cell as a number in the series' own unit; absent: "[N/A]", "-", "N/A" and the like. Units that the cell prints
// ("612 MiB", "98 %", "1410 MHz") count before those of the column. "Active" is 1, "Not Active" 0.
std::optional<double> ValueOf(std::string_view cell, const Column& column);
// Returns a mask or number as nvidia-smi prints it: "0x0000000000000004", or decimal. Returns nullopt if the cell
// has anything else.
std::optional<uint64_t> MaskOf(std::string_view cell);

// A ThrottleReason is one bit of NVML's mask of reasons why the clocks are lowered.
struct ThrottleReason {
  std::string_view name;  // "hw_thermal", of the series gpu.throttle.hw_thermal
  uint64_t bit;
};
inline constexpr ThrottleReason kThrottleReasons[] = {
    {"power_cap", 0x4}, {"hw_slowdown", 0x8}, {"sw_thermal", 0x20}, {"hw_thermal", 0x40}, {"power_brake", 0x80}};

}  // namespace gapless::internal::gpu_samples
