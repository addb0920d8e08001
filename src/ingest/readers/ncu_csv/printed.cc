// SPDX-License-Identifier: Apache-2.0
// Detects the decimal separator from all values of a table, parses values, and converts them to base units.
//
// "1,234" can be read as a thousand or as one, so a separator followed by exactly three digits says nothing. Any
// other number of digits behind a single comma or a point shows the decimal mark of the whole file.
#include "ingest/readers/ncu_csv/printed.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace gapless::internal::ncu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

double ParsePlain(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? value : kNan;
}

// Takes out what some locales print between thousands: spaces, also those that do not break, and apostrophes. A text
// that is no number stays as it is.
std::string WithoutSpaces(std::string_view text) {
  constexpr std::string_view kBetween[] = {" ", "\xC2\xA0", "\xE2\x80\xAF", "'", "\xE2\x80\x99"};
  std::string out;
  while (!text.empty()) {
    const auto* const found =
        std::ranges::find_if(kBetween, [&](std::string_view between) { return text.starts_with(between); });
    if (found != std::end(kBetween) && !out.empty() && text.size() > found->size()) {
      text.remove_prefix(found->size());
      continue;
    }
    if (!IsDigit(text[0]) && text[0] != '.' && text[0] != ',' && text[0] != '-' && text[0] != 'e' && text[0] != '+')
      return out + std::string(text);
    out += text[0];
    text.remove_prefix(1);
  }
  return out;
}

struct Prefixed {
  std::string_view printed, base;
  double factor;
};

// 1000, not 1024: ncu's kilobyte is a thousand bytes.
constexpr Prefixed kAmounts[] = {
    {"Kbyte", "byte", 1e3}, {"Mbyte", "byte", 1e6}, {"Gbyte", "byte", 1e9}, {"Tbyte", "byte", 1e12},
    {"Khz", "hz", 1e3},     {"Mhz", "hz", 1e6},     {"Ghz", "hz", 1e9},     {"second", "ns", 1e9},
    {"msecond", "ns", 1e6}, {"usecond", "ns", 1e3}, {"nsecond", "ns", 1},   {"s", "ns", 1e9},
    {"ms", "ns", 1e6},      {"us", "ns", 1e3},
};
// After a slash: per nanosecond is a thousand million per second.
constexpr Prefixed kPer[] = {
    {"nsecond", "second", 1e9}, {"usecond", "second", 1e6}, {"msecond", "second", 1e3}, {"ns", "second", 1e9},
    {"us", "second", 1e6},      {"ms", "second", 1e3},      {"s", "second", 1},
};

template <size_t N>
const Prefixed* Find(const Prefixed (&table)[N], std::string_view printed) {
  const auto* found = std::ranges::find(table, printed, &Prefixed::printed);
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

bool IsAbsentValue(std::string_view text) {
  if (text.starts_with("(!)")) text.remove_prefix(3);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.empty()) return true;
  for (const std::string_view absent : {"n/a", "nan", "-nan", "inf", "-inf", "no data"})
    if (EqualsIgnoreCase(text, absent)) return true;
  return false;
}

void StyleFinder::See(std::string_view printed) {
  const std::string text = WithoutSpaces(printed);
  const size_t comma = text.find(','), point = text.find('.');
  const auto numeric = [](char c) { return IsDigit(c) || c == ',' || c == '.' || c == '-'; };
  if (text.empty() || !std::ranges::all_of(text, numeric)) return;
  if (point != std::string::npos && text.size() - text.rfind('.') != 4) points_ = true;
  if (comma != std::string::npos && point == std::string::npos && comma == text.rfind(',') && text.size() - comma != 4)
    commas_ = true;
  // Both, or several points: what comes last, or comes once, is the decimal mark.
  const bool several_points = point != std::string::npos && point != text.rfind('.');
  if (several_points || (point != std::string::npos && comma != std::string::npos && point < comma)) {
    commas_ = true, points_between_ = true;
  }
}

double ParseValue(std::string_view printed, NumberStyle style) {
  const std::string text = WithoutSpaces(printed);
  if (text.empty() || (!IsDigit(text[0]) && text[0] != '-')) return kNan;
  if (text.find(',') == std::string_view::npos && !style.decimal_comma) return ParsePlain(text);
  std::string plain;
  for (const char c : text) {
    if (c == (style.decimal_comma ? '.' : ',')) continue;  // between thousands
    plain += c == ',' ? '.' : c;
  }
  return ParsePlain(plain);
}

BaseUnit ToBaseUnit(std::string_view unit) {
  const size_t slash = unit.find('/');
  if (slash == std::string_view::npos) {
    const Prefixed* amount = Find(kAmounts, unit);
    return amount != nullptr ? BaseUnit{amount->factor, std::string(amount->base)} : BaseUnit{1, std::string(unit)};
  }
  const std::string_view above = unit.substr(0, slash), below = unit.substr(slash + 1);
  const Prefixed* amount = Find(kAmounts, above);
  const Prefixed* per = Find(kPer, below);
  return {(amount != nullptr ? amount->factor : 1) * (per != nullptr ? per->factor : 1),
          StrCat(amount != nullptr ? amount->base : above, '/', per != nullptr ? per->base : below)};
}

// Maps columns of ncu to fields of a kernel, and short metric labels to full metric names. "Memory Throughput" has
// different meanings in two sections, so such labels are looked up with their section.

namespace {

constexpr AboutColumn kAbout[] = {{"Block Size", "block"},      {"Grid Size", "grid"},
                                  {"Context", "context"},       {"Stream", "stream"},
                                  {"Device", "device"},         {"CC", "compute_capability"},
                                  {"Process ID", "process_id"}, {"Invocations", "invocations"}};
constexpr std::string_view kOtherAbout[] = {"ID",           "Process Name", "Host Name",   "Kernel Name", "Kernel Time",
                                            "Section Name", "Metric Name",  "Metric Unit", "Metric Value"};

struct Renamed {
  std::string_view section, printed, metric;  // no section: of any
};
constexpr std::string_view kSmThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kDramThroughput = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kMemoryThroughput = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr Renamed kRenamed[] = {
    {"", "Duration", "gpu__time_duration.sum"},
    {"", "Compute (SM) Throughput", kSmThroughput},
    {"", "SM [%]", kSmThroughput},
    {"", "SOL SM", kSmThroughput},
    {"GPU Speed Of Light Throughput", "Memory Throughput", kMemoryThroughput},
    {"GPU Speed Of Light", "Memory [%]", kMemoryThroughput},
    {"", "SOL Memory", kMemoryThroughput},
    {"", "DRAM Throughput", kDramThroughput},
    {"", "SOL DRAM", kDramThroughput},
    {"", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    {"", "Registers Per Thread", "launch__registers_per_thread"},
    {"", "Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"", "Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"", "Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    {"", "L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
};

}  // namespace

std::span<const AboutColumn> AboutColumns() { return kAbout; }

bool IsAbout(std::string_view column) {
  return std::ranges::find(kAbout, column, &AboutColumn::printed) != std::end(kAbout) ||
         std::ranges::find(kOtherAbout, column) != std::end(kOtherAbout);
}

std::string MetricOf(std::string_view section, std::string_view printed) {
  if (printed.find("__") != std::string_view::npos) return std::string(printed);
  for (const Renamed& known : kRenamed)
    if (known.printed == printed && (known.section.empty() || known.section == section))
      return std::string(known.metric);
  return section.empty() ? std::string(printed) : StrCat(section, ": ", printed);
}

}  // namespace gapless::internal::ncu
