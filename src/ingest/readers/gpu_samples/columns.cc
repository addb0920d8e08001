// SPDX-License-Identifier: Apache-2.0
// Maps the columns of nvidia-smi and DCGM, in their spellings by version, to series of telemetry with units.
//
// Values are converted to base units: percent to shares of 0–1, MHz to Hz, MiB to bytes, MB/s to bytes/s. A column
// that is in no table is ignored. DCGM's profiling columns are shares already.
#include "ingest/readers/gpu_samples/columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal::gpu_samples {
namespace {

constexpr double kPercent = 0.01, kMega = 1e6, kMebi = 1024.0 * 1024;

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A Known is a column: its printed name, the series and unit it becomes, and the factor from the printed unit.
struct Known {
  std::string_view printed, series, unit;
  double factor = 1;
};
constexpr Known kQuery[] = {
    {"utilization.gpu", "gpu.utilization", "share", kPercent},
    {"gpu_utilization", "gpu.utilization", "share", kPercent},  // names in scripts that write their own head
    {"memory_used", "gpu.memory.used", "bytes", kMebi},
    {"utilization.memory", "gpu.memory_utilization", "share", kPercent},
    {"memory.used", "gpu.memory.used", "bytes", kMebi},
    {"temperature.gpu", "gpu.temperature", "degC"},
    {"power.draw", "gpu.power", "W"},
    {"power.draw.instant", "gpu.power", "W"},
    {"power.limit", "gpu.power.limit", "W"},
    {"enforced.power.limit", "gpu.power.limit", "W"},
    {"clocks.sm", "gpu.clock.sm", "Hz", kMega},
    {"clocks.current.sm", "gpu.clock.sm", "Hz", kMega},
    {"clocks.mem", "gpu.clock.memory", "Hz", kMega},
    {"clocks.current.memory", "gpu.clock.memory", "Hz", kMega},
    {"pcie.link.gen.current", "gpu.pcie.generation", ""},
    {"pcie.link.gen.gpucurrent", "gpu.pcie.generation", ""},
    {"pcie.link.width.current", "gpu.pcie.width", "lanes"},
};
constexpr Known kDmon[] = {
    {"pwr", "gpu.power", "W"},
    {"gtemp", "gpu.temperature", "degC"},
    {"temp", "gpu.temperature", "degC"},
    {"sm", "gpu.utilization", "share", kPercent},
    {"mem", "gpu.memory_utilization", "share", kPercent},
    {"mclk", "gpu.clock.memory", "Hz", kMega},
    {"pclk", "gpu.clock.sm", "Hz", kMega},
    {"gclk", "gpu.clock.sm", "Hz", kMega},
    {"fb", "gpu.memory.used", "bytes", kMebi},
    {"rxpci", "gpu.pcie.receive", "bytes/s", kMega},
    {"txpci", "gpu.pcie.send", "bytes/s", kMega},
    {"tviol", "gpu.throttle.hw_thermal", "flag"},
};
constexpr Known kDcgm[] = {
    {"GRACT", "gpu.dcgm.engine_active", "share"},
    {"SMACT", "gpu.dcgm.sm_active", "share"},
    {"SMOCC", "gpu.dcgm.sm_occupancy", "share"},
    {"TENSO", "gpu.dcgm.tensor_active", "share"},
    {"TENACT", "gpu.dcgm.tensor_active", "share"},
    {"DRAMA", "gpu.dcgm.dram_active", "share"},
    {"FP64A", "gpu.dcgm.fp64_active", "share"},
    {"FP32A", "gpu.dcgm.fp32_active", "share"},
    {"FP16A", "gpu.dcgm.fp16_active", "share"},
    {"PCITX", "gpu.dcgm.pcie.send", "bytes/s"},
    {"PCIRX", "gpu.dcgm.pcie.receive", "bytes/s"},
    {"NVLTX", "gpu.dcgm.nvlink.send", "bytes/s"},
    {"NVLRX", "gpu.dcgm.nvlink.receive", "bytes/s"},
    {"GPUTL", "gpu.utilization", "share", kPercent},
    {"MCUTL", "gpu.memory_utilization", "share", kPercent},
    {"POWER", "gpu.power", "W"},
    {"TMPTR", "gpu.temperature", "degC"},
    {"SMCLK", "gpu.clock.sm", "Hz", kMega},
    {"MMCLK", "gpu.clock.memory", "Hz", kMega},
    {"FBUSD", "gpu.memory.used", "bytes", kMebi},
};

// Returns the column of a printed name; kIgnored if the table does not have it.
template <size_t N>
Column Find(const Known (&known)[N], std::string_view printed) {
  const auto* const found = std::ranges::find(known, printed, &Known::printed);
  if (found == std::end(known)) return {};
  return {.kind = Column::Kind::kValue,
          .series = std::string(found->series),
          .unit = std::string(found->unit),
          .factor = found->factor};
}

// Returns the column of a throttle reason, "clocks_throttle_reasons.hw_thermal_slowdown", also as later drivers
// call it, "clocks_event_reasons.…". "…_reasons.active" is the mask of all reasons.
Column ThrottleColumn(std::string_view printed) {
  const size_t dot = printed.find("_reasons.");
  if (dot == printed.npos || !printed.starts_with("clocks_")) return {};
  const std::string_view reason = printed.substr(dot + 9);
  if (reason == "active") return {.kind = Column::Kind::kThrottleMask};
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"hw_thermal_slowdown", "hw_thermal"},
                                                                      {"hw_power_brake_slowdown", "power_brake"},
                                                                      {"hw_slowdown", "hw_slowdown"},
                                                                      {"sw_thermal_slowdown", "sw_thermal"},
                                                                      {"sw_power_cap", "power_cap"}};
  for (const auto& [name, series] : kNames)
    if (reason == name)
      return {.kind = Column::Kind::kValue, .series = StrCat("gpu.throttle.", series), .unit = "flag"};
  return {};
}

}  // namespace

Column QueryColumn(std::string_view printed) {
  const size_t bracket = printed.find('[');
  const std::string_view name = Trimmed(printed.substr(0, bracket));
  if (name == "timestamp") return {.kind = Column::Kind::kTimestamp};
  if (name == "index" || name == "gpu") return {.kind = Column::Kind::kDevice};
  if (name == "name" || name == "gpu_name") return {.kind = Column::Kind::kDeviceName};
  if (name == "uuid" || name == "gpu_uuid") return {.kind = Column::Kind::kUuid};
  if (Column throttle = ThrottleColumn(name); throttle.kind != Column::Kind::kIgnored) return throttle;
  return Find(kQuery, name);
}

Column DmonColumn(std::string_view printed, std::string_view unit) {
  if (printed == "gpu") return {.kind = Column::Kind::kDevice};
  if (printed == "Date") return {.kind = Column::Kind::kDate};
  if (printed == "Time") return {.kind = Column::Kind::kTime};
  // dmon prints the rates of PCIe in MB/s, and newer versions in GB/s: the line of units says which.
  Column column = Find(kDmon, printed);
  if (unit == "GB/s" && column.kind == Column::Kind::kValue) column.factor = 1e9;
  return column;
}

Column DcgmColumn(std::string_view printed) { return Find(kDcgm, printed); }

std::optional<double> ValueOf(std::string_view cell, const Column& column) {
  cell = Trimmed(cell);
  if (cell == "Active") return 1;
  if (cell == "Not Active") return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  const std::string_view unit = Trimmed(cell.substr(static_cast<size_t>(end - cell.data())));
  constexpr std::pair<std::string_view, double> kUnits[] = {{"%", kPercent}, {"MiB", kMebi}, {"GiB", 1024 * kMebi},
                                                            {"MHz", kMega},  {"W", 1},       {"C", 1}};
  if (unit.empty()) return value * column.factor;
  for (const auto& [name, factor] : kUnits)
    if (unit == name) return value * factor;
  return std::nullopt;
}

std::optional<uint64_t> MaskOf(std::string_view cell) {
  cell = Trimmed(cell);
  const bool hex = cell.starts_with("0x");
  if (hex) cell.remove_prefix(2);
  uint64_t mask = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), mask, hex ? 16 : 10);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return mask;
}

}  // namespace gapless::internal::gpu_samples
