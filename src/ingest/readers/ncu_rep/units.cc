// SPDX-License-Identifier: Apache-2.0
// A name is unit__counter.rollup.submetric. What is counted stands in the name of the counter, and what it is divided
// by in the submetric. The exceptions are those of 2,628 metrics of 24 reports, on GPUs from Turing to Hopper.
#include "ingest/readers/ncu_rep/units.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal::ncu_rep {
namespace {

struct Known {
  std::string_view beginning, unit;
};

// The first that a name begins with decides.
constexpr Known kKnown[] = {
    {"device__", ""},
    {"nvlink__", ""},
    {"numa__", ""},
    {"sass__inst_executed_per_opcode", ""},
    {"sass__thread_inst_executed_true_per_opcode", ""},
    {"launch__shared_mem_config_size", "byte"},
    {"launch__thread_count", "thread"},
    {"launch__sm_count", "SM"},
    {"launch__cluster_max_active", "cluster"},
    {"launch__cluster_max_potential_size", "block"},
    {"launch__shared_mem_per_block", "byte/block"},
    {"launch__registers_per_thread", "register/thread"},
    {"launch__block_dim_", "block"},
    {"launch__occupancy_limit_", "block"},
    {"launch__", ""},
    {"derived__avg_thread_executed", "thread"},
    {"derived__l1tex__lsu_writeback_bytes_", "byte"},
    {"derived__lts__lts2xbar_bytes", "byte"},
    {"derived__pct_occupancy_per_block_size", "%"},
    {"derived__pct_occupancy_per_register_count", "%/register"},
    {"derived__pct_occupancy_per_shared_mem_size", "%/byte"},
    {"derived__sm__inst_executed_pipe_tensor_", "inst"},
    {"derived__smsp__inst_executed_pipe_tensor_", "inst"},
    {"lrc__average_", ""},
    {"memory_l1_tag_requests_", "sectors"},
    {"memory_l1_wavefronts_", "sectors"},
    {"memory_l2_theoretical_sectors_", "sectors"},
    {"profiler__pmsampler_dropped_samples", "sample"},
    {"profiler__pmsampler_merged_samples", "sample"},
    {"profiler__pmsampler_interval_time", "ns"},
    {"profiler__replayer_passes", "pass"},
    {"sm__ctas_launched", "block"},
    {"sm__maximum_warps_avg_", "warp"},
    {"smsp__maximum_warps_avg_", "warp"},
    {"smsp__average_warp_latency_issue_stalled_", "inst/warp"},
    {"smsp__average_warp_latency_per_inst_issued", "cycle"},
    {"smsp__average_warps_active_per_inst_executed", "cycle"},
    {"smsp__average_warps_issue_stalled_", "inst"},
    {"smsp__branch_targets_threads_divergent", "branches"},
    {"smsp__sass_branch_targets_threads_divergent", "branches"},
    {"smsp__pcsamp_aggregated_passes", "pass"},
    {"smsp__pcsamp_warps_issue_stalled_branch_resolving", "branches"},
    {"smsp__pcsamp_warps_issue_stalled_no_instructions", "inst"},
    {"smsp__pcsamp_warps_issue_stalled_", "warp"},
    {"smsp__sass_average_data_bytes_per_sector_", "byte/sector"},
    {"smsp__sass_inst_executed_memdesc_explicit_evict_type", ""},
    {"smsp__thread_inst_executed_per_inst_executed", ""},
    {"smsp__thread_inst_executed_pred_on_per_inst_executed", ""},
};

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Returns what a counter counts.
std::string_view Counted(std::string_view counter) {
  const size_t behind = counter.find("__");
  const std::string_view name = behind == std::string_view::npos ? counter : counter.substr(behind + 2);
  if (Has(name, "time_duration")) return "ns";
  if (Has(name, "cycles") || name.starts_with("lsu_writeback_active") || name.ends_with("writeback_active"))
    return "cycle";
  if (Has(name, "bytes")) return "byte";
  if (Has(name, "sectors")) return "sector";
  if (Has(name, "requests") && counter.starts_with("lts__")) return "request";
  if (name.starts_with("warps_")) return "warp";
  return Has(name, "inst_") || name.starts_with("inst") ? "inst" : "";
}

std::string_view Part(std::string_view metric, size_t wanted) {
  for (; wanted > 0; --wanted) {
    const size_t point = metric.find('.');
    if (point == std::string_view::npos) return "";
    metric.remove_prefix(point + 1);
  }
  return metric.substr(0, metric.find('.'));
}

// Takes off what stands before the name of a metric that was sampled over time.
std::string_view WithoutSampler(std::string_view metric) {
  constexpr std::string_view kSampled = "pmsampling:", kTriage = ".TriageA.";
  if (metric.starts_with(kSampled)) return metric.substr(kSampled.size());
  const size_t triage = metric.find(kTriage);
  return triage == std::string_view::npos ? metric : metric.substr(triage + kTriage.size());
}

}  // namespace

std::string UnitOf(std::string_view metric) {
  if (Has(metric, ".pct") || metric.ends_with("_pct")) return "%";
  metric = WithoutSampler(metric);
  const auto* const known =
      std::ranges::find_if(kKnown, [&](const Known& one) { return metric.starts_with(one.beginning); });
  if (known != std::end(kKnown)) return std::string(known->unit);
  const std::string_view counted = Counted(Part(metric, 0)), per = Part(metric, 2);
  if (counted.empty() || per.empty()) return std::string(counted);
  if (per == "per_second") return StrCat(counted, "/second");
  if (per != "peak_sustained" && !per.starts_with("per_cycle_")) return std::string(counted);
  if (counted == "warp") return "warp";
  return counted == "cycle" ? "" : StrCat(counted, "/cycle");
}

}  // namespace gapless::internal::ncu_rep
