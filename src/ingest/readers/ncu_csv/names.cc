// SPDX-License-Identifier: Apache-2.0
// Maps columns of ncu to fields of a kernel, and short metric labels to full metric names. "Memory Throughput" has
// different meanings in two sections, so such labels are looked up with their section.
#include "ingest/readers/ncu_csv/names.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal::ncu {
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
