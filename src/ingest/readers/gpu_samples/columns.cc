// SPDX-License-Identifier: Apache-2.0
// Maps the columns of nvidia-smi and DCGM, in their spellings by version, to series of telemetry with units.
//
// Values are converted to base units: percent to shares of 0–1, MHz to Hz, MiB to bytes, MB/s to bytes/s. A column
// that is in no table is left out, and counted by the sink. DCGM's profiling columns are shares already.
#include "ingest/readers/gpu_samples/columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "ingest/readers/gpu_samples/known.h"

namespace gapless::internal::gpu_samples {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Units as cells and heads print them, with the factor to the series' own. Tools of AMD write MB for MiB.
std::optional<double> UnitFactor(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"%", kPercent}, {"MiB", kMebi}, {"MB", kMebi}, {"GiB", kGibi}, {"GB", kGibi}, {"B", 1}, {"bytes", 1},
      {"MHz", kMega},  {"Mhz", kMega}, {"W", 1},      {"mW", 1e-3},   {"C", 1},      {"x", 1}, {"KiB", 1024}};
  for (const auto& [name, factor] : kUnits)
    if (unit == name) return factor;
  return std::nullopt;
}

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
// call it, "clocks_event_reasons.…", and as reports do. "…_reasons.active" is the mask of all reasons.
Column ThrottleColumn(std::string_view plain) {
  constexpr std::string_view kPrefixes[] = {"clocks_throttle_reasons", "clocks_event_reasons", "clocks_throttle_reason",
                                            "clocks_event_reason"};
  const auto* const prefix =
      std::ranges::find_if(kPrefixes, [&](std::string_view one) { return plain.starts_with(one); });
  if (prefix == std::end(kPrefixes) || plain.size() <= prefix->size()) return {};
  const std::string_view reason = plain.substr(prefix->size() + 1);
  if (reason == "active") return {.kind = Column::Kind::kThrottleMask, .is_certain = true};
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"hw_thermal_slowdown", "hw_thermal"},
                                                                      {"hw_power_brake_slowdown", "power_brake"},
                                                                      {"hw_slowdown", "hw_slowdown"},
                                                                      {"sw_thermal_slowdown", "sw_thermal"},
                                                                      {"sw_power_cap", "power_cap"}};
  for (const auto& [name, series] : kNames)
    if (reason == name)
      return {
          .kind = Column::Kind::kValue, .series = StrCat("gpu.throttle.", series), .unit = "flag", .is_certain = true};
  return {};
}

// "power_w" and "gpu_util_pct" name their unit at the end: takes it off and gives the factor to the series' own unit.
std::optional<double> TakeUnit(std::string& name) {
  constexpr std::pair<std::string_view, double> kEnds[] = {
      {"_pct", kPercent}, {"_percent", kPercent}, {"_perc", kPercent}, {"_mib", kMebi}, {"_mb", kMebi}, {"_gib", kGibi},
      {"_gb", kGibi},     {"_bytes", 1},          {"_mw", 1e-3},       {"_w", 1},       {"_watts", 1},  {"_mhz", kMega},
      {"_c", 1},          {"_celsius", 1},        {"_share", 1},       {"_ratio", 1}};
  for (const auto& [end, factor] : kEnds) {
    if (!name.ends_with(end)) continue;
    name.resize(name.size() - end.size());
    return factor;
  }
  return std::nullopt;
}

// The unit in brackets of a head, "GPU Memory Used (MiB)".
std::optional<double> PrintedUnit(std::string_view printed) {
  const size_t open = printed.find_last_of("[(");
  if (open == printed.npos) return std::nullopt;
  const size_t close = printed.find_first_of("])", open);
  return close == printed.npos ? std::nullopt : UnitFactor(Trimmed(printed.substr(open + 1, close - open - 1)));
}

// Columns that say when and of which GPU a row is.
Column AboutColumn(std::string_view plain) {
  using Kind = Column::Kind;
  constexpr std::pair<std::string_view, Kind> kAbout[] = {{"timestamp", Kind::kTimestamp},
                                                          {"time", Kind::kTimestamp},
                                                          {"datetime", Kind::kTimestamp},
                                                          {"date_time", Kind::kTimestamp},
                                                          {"utc_epoch_s", Kind::kTimestamp},
                                                          {"epoch", Kind::kTimestamp},
                                                          {"unix_time", Kind::kTimestamp},
                                                          {"ts", Kind::kTimestamp},
                                                          {"timestamp_s", Kind::kTimestamp},
                                                          {"elapsed_s", Kind::kTimestamp},
                                                          {"start_time", Kind::kTimestamp},
                                                          {"index", Kind::kDevice},
                                                          {"gpu", Kind::kDevice},
                                                          {"gpu_index", Kind::kDevice},
                                                          {"gpu_id", Kind::kDevice},
                                                          {"device", Kind::kDevice},
                                                          {"name", Kind::kDeviceName},
                                                          {"gpu_name", Kind::kDeviceName},
                                                          {"card_series", Kind::kDeviceName},
                                                          {"product_name", Kind::kDeviceName},
                                                          {"market_name", Kind::kDeviceName},
                                                          {"uuid", Kind::kUuid},
                                                          {"gpu_uuid", Kind::kUuid},
                                                          {"pci_bus_id", Kind::kBusId},
                                                          {"gpu_bus_id", Kind::kBusId},
                                                          {"elapsed_time", Kind::kWindow}};
  for (const auto& [name, kind] : kAbout)
    if (plain == name) return {.kind = kind};
  return {};
}

// Returns the column of a name that is about no certain GPU.
Column PlainColumn(std::string_view printed) {
  std::string plain = PlainName(printed);
  std::optional<double> unit = PrintedUnit(printed);
  for (const bool cut : {false, true}) {
    if (cut) {
      const auto taken = TakeUnit(plain);
      if (!taken) break;
      if (!unit) unit = taken;
    }
    if (Column about = AboutColumn(plain); about.kind != Column::Kind::kIgnored) return about;
    if (Column throttle = ThrottleColumn(plain); throttle.kind != Column::Kind::kIgnored) return throttle;
    Column column = Find(kCertain, plain);
    column.is_certain = column.kind == Column::Kind::kValue;
    if (column.kind == Column::Kind::kIgnored) column = Find(kLikely, plain);
    for (const std::string_view total : {"memory_total", "mem_total", "gpu_memory_total", "total_memory", "total_vram",
                                         "vram_total_memory", "gpu_mem_total", "vram_total"})
      if (plain == total)
        column = {.kind = Column::Kind::kMemoryTotal, .factor = plain == "vram_total_memory" ? 1 : kMebi};
    if (column.kind == Column::Kind::kIgnored) continue;
    if (unit) column.factor = *unit;
    return column;
  }
  return {};
}

// The number of a GPU behind `mark`, "gpu.3.temp" or "gpu3_power", and what follows it; negative: none.
int32_t NumberBehind(std::string_view& text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == text.npos) return -1;
  std::string_view rest = text.substr(at + mark.size());
  int32_t number = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 0 || number > 4096) return -1;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  if (rest.empty() || std::string_view("._/) ").find(rest.front()) == rest.npos) return -1;
  rest.remove_prefix(rest.find_first_not_of("._/) ") == rest.npos ? rest.size() : rest.find_first_not_of("._/) "));
  text = rest;
  return number;
}

// A column about one GPU: of W&B, of nvitop ("cuda:0 (gpu:0)/gpu_utilization (%)/mean"), of Zeus ("gpu0_energy").
Column WideColumn(std::string_view printed) {
  std::string_view rest = Trimmed(printed);
  for (const std::string_view mark : {"system.gpu.", "system/gpu."}) {
    if (!rest.starts_with(mark)) continue;
    const int32_t number = NumberBehind(rest, mark);
    if (number < 0) return {};
    Column column = Find(kWandb, rest);
    column.device = number, column.is_certain = true;
    return column;
  }
  int32_t number = -1;
  for (const std::string_view mark : {"(gpu:", "gpu_", "gpu"})
    if (number < 0 && (mark.front() == '(' || rest.starts_with(mark))) number = NumberBehind(rest, mark);
  if (number < 0) return {};
  for (const std::string_view end : {"/min", "/max", "/last"})
    if (rest.ends_with(end)) return {};
  if (rest.ends_with("/mean")) rest.remove_suffix(5);
  Column column;
  if (rest == "energy") {
    column = {.kind = Column::Kind::kEnergy, .series = std::string(kPower), .unit = "W"};
  } else {
    column = PlainColumn(rest);
    if (column.kind == Column::Kind::kIgnored) column = PlainColumn(StrCat("gpu_", rest));
    if (column.kind != Column::Kind::kValue && column.kind != Column::Kind::kMemoryTotal) return {};
  }
  column.device = number, column.is_certain = true;
  return column;
}

}  // namespace

std::string PlainName(std::string_view printed) {
  printed = Trimmed(printed);
  if (const size_t bracket = printed.find_last_of("[("); bracket != printed.npos && bracket > 0) {
    const std::string_view inside = printed.substr(bracket + 1);
    // "Temperature (Sensor edge) (C)" keeps what its first brackets say.
    if (inside.size() <= 6) printed = Trimmed(printed.substr(0, bracket));
  }
  std::string plain;
  for (const char sign : printed) {
    const char low = Lower(sign);
    const bool kept = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9');
    if (kept) plain += low;
    if (!kept && !plain.empty() && plain.back() != '_') plain += '_';
  }
  while (!plain.empty() && plain.back() == '_') plain.pop_back();
  return plain;
}

Column QueryColumn(std::string_view printed) {
  if (Trimmed(printed) == "_timestamp" || Trimmed(printed) == "_runtime") return {.kind = Column::Kind::kTimestamp};
  if (Column wide = WideColumn(printed); wide.kind != Column::Kind::kIgnored) return wide;
  Column column = PlainColumn(printed);
  // nvidia-smi writes "power.draw [W]": a point and no blank before the unit.
  const std::string_view name = Trimmed(printed.substr(0, printed.find('[')));
  column.is_certain = column.is_certain || (name.find('.') != name.npos && name.find(' ') == name.npos);
  return column;
}

Column ReportColumn(std::string_view section, std::string_view name) {
  const std::string plain = PlainName(name), above = PlainName(section);
  if (above.starts_with("clocks_throttle_reasons") || above.starts_with("clocks_event_reasons")) {
    // The text has the reason alone, the XML repeats what it is about.
    Column column = ThrottleColumn(plain);
    return column.kind == Column::Kind::kIgnored ? ThrottleColumn(StrCat("clocks_event_reasons_", plain)) : column;
  }
  if (above == "fb_memory_usage" && plain == "total") return {.kind = Column::Kind::kMemoryTotal, .factor = kMebi};
  if (plain == "product_name") return {.kind = Column::Kind::kDeviceName};
  if (plain == "gpu_uuid" || plain == "uuid") return {.kind = Column::Kind::kUuid};
  return Find(kReport, StrCat(above, "/", plain));
}

Column MetricColumn(std::string_view name) { return Find(kMetrics, name); }

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
  if (cell.starts_with('(') && cell.ends_with(')')) cell = cell.substr(1, cell.size() - 2);  // "(1700Mhz)" of rocm-smi
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  const std::string_view unit = Trimmed(cell.substr(static_cast<size_t>(end - cell.data())));
  if (unit.empty()) return value * column.factor;
  const auto factor = UnitFactor(unit);
  return factor ? std::optional(value * *factor) : std::nullopt;
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
