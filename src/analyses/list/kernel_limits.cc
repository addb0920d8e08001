// SPDX-License-Identifier: Apache-2.0
// The limits that hold a kernel back, from the hardware counters of its launch: the checks that Nsight Compute's
// sections make, from their definitions (its guide and its open rules), so that they are there also where a report was
// made without rules, and for a table of CSV.
//
// The most that a limit can save is what those rules estimate. While schedulers have slots free, nothing that keeps
// warps from being ready can save more than the free slots, nor more than what computing and memory leave: a kernel
// at the peak of either gains nothing from more warps.
#include "analyses/rows/kernel_limits.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/launch_counters.h"
#include "analyses/stall_reasons.h"
#include "base/strings.h"

namespace gapless::internal::kernel_limits_analysis {
namespace {

constexpr double kFewIssues = 0.6, kSomeIssues = 0.8;  // instructions a cycle and scheduler
constexpr double kStallShare = 0.3;                    // share of the cycles between two instructions of a warp
constexpr double kFewWarps = 80, kWarpGap = 10;        // percent of the most possible
constexpr double kWarp = 32, kActiveThreads = 24;
constexpr double kTail = 0.2, kTailWarps = 0.8, kImbalance = 0.05;

struct Limit {
  std::string_view limit;
  std::string what;
  double saves = 0;  // share of the kernel's time
  std::string advice;
};

std::string Percent(double share) { return FormatPercent(share); }

// Finds the limits of one launch.
class Limits {
 public:
  explicit Limits(const LaunchCounters& of) : of_(of) {}
  std::vector<Limit> Find() {
    IssueSlots();
    Stalls();
    Occupancy();
    Launch();
    Divergence();
    Imbalance();
    std::ranges::stable_sort(found_, [](const Limit& a, const Limit& b) { return a.saves > b.saves; });
    return std::move(found_);
  }

 private:
  void Add(Limit limit) {
    if (limit.saves > 0) found_.push_back(std::move(limit));
  }
  double AtMostFree(double share) const { return free_ ? std::min(*free_, share) : share; }

  void IssueSlots() {
    issues_ = of_.Get("smsp__issue_active.avg.per_cycle_active");
    const auto sm = of_.Get("sm__throughput.avg.pct_of_peak_sustained_elapsed");
    const auto memory = of_.Get("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
    if (!issues_ || !sm || !memory || *issues_ >= kFewIssues || *issues_ <= 0) return;
    free_ = std::min(1 - *issues_, 1 - std::max(*sm, *memory) / 100);
    Add({"issue_slots",
         StrCat("a scheduler issues an instruction every ", FormatNumber(1 / *issues_, 1),
                " cycles; it could every cycle"),
         *free_, "give schedulers more ready warps: more warps, or more independent instructions in each"});
  }

  void Stalls() {
    auto latency = of_.Get("smsp__average_warp_latency_per_inst_issued.ratio");
    if (!latency) latency = of_.Get("smsp__average_warps_active_per_issue_active.ratio");
    if (!issues_ || !latency || *issues_ >= kSomeIssues || *latency <= 0) return;
    for (const StallReason& reason : kStallReasons) {
      const auto cycles = of_.Get(StrCat("smsp__average_warps_issue_stalled_", reason.name, "_per_issue_active.ratio"));
      if (!cycles || *cycles / *latency <= kStallShare) continue;
      Add({"stall",
           StrCat("a warp waits ", FormatNumber(*cycles, 1), " of ", FormatNumber(*latency, 1),
                  " cycles between two instructions for ", reason.what),
           AtMostFree(*cycles / *latency), std::string(reason.advice)});
    }
  }

  void Occupancy() {
    const auto possible = of_.Get("sm__maximum_warps_per_active_cycle_pct");
    const auto achieved = of_.Get("sm__warps_active.avg.pct_of_peak_sustained_active");
    if (!possible || *possible <= 0) return;
    if (*possible < kFewWarps)
      Add({"few_warps",
           StrCat(Percent(*possible / 100), " of the warps that a multiprocessor holds fit, because of ", Limiter()),
           AtMostFree(1 - *possible / 100), StrCat("use less of ", Limiter())});
    if (achieved && *possible - *achieved > kWarpGap)
      Add({"unequal_warps",
           StrCat(Percent(*achieved / 100), " of the warps are resident on average, ", Percent(*possible / 100),
                  " are possible"),
           AtMostFree((*possible - *achieved) / *possible),
           "split the work evenly over warps and blocks: some end long before the others"});
  }

  // Returns what allows the fewest blocks on a multiprocessor.
  std::string_view Limiter() const {
    constexpr std::pair<std::string_view, std::string_view> kLimiters[] = {
        {"launch__occupancy_limit_registers", "registers"},
        {"launch__occupancy_limit_shared_mem", "shared memory"},
        {"launch__occupancy_limit_warps", "threads of a block"},
        {"launch__occupancy_limit_blocks", "blocks of a multiprocessor"}};
    std::string_view name = "what a block uses";
    std::optional<double> fewest;
    for (const auto& [counter, words] : kLimiters)
      if (const auto blocks = of_.Get(counter); blocks && (!fewest || *blocks < *fewest)) fewest = blocks, name = words;
    return name;
  }

  void Launch() {
    const auto block = of_.Get("launch__block_size"), grid = of_.Get("launch__grid_size");
    auto processors = of_.Get("launch__sm_count");
    if (!processors) processors = of_.Get("device__attribute_multiprocessor_count");
    if (block && *block > 0 && std::fmod(*block, kWarp) != 0)
      Add({"odd_block", StrCat("blocks of ", FormatNumber(*block, 0), " threads leave threads of their last warp idle"),
           (1 - std::fmod(*block, kWarp) / kWarp) / std::ceil(*block / kWarp), "use a multiple of 32 threads a block"});
    if (grid && processors && *grid < *processors)
      Add({"small_grid",
           StrCat("its ", FormatNumber(*grid, 0), " blocks leave multiprocessors of ", FormatNumber(*processors, 0),
                  " empty"),
           (*processors - *grid) / *processors, "launch more and smaller blocks, or run another kernel beside it"});
    Tail();
  }

  // The last wave of blocks does not fill the GPU, and takes as long as a full one.
  void Tail() {
    const auto waves = of_.Get("launch__waves_per_multiprocessor");
    const auto possible = of_.Get("sm__maximum_warps_per_active_cycle_pct");
    const auto achieved = of_.Get("sm__warps_active.avg.pct_of_peak_sustained_active");
    if (!waves || !possible || !achieved || *waves < 1 || *waves == std::floor(*waves)) return;
    const double saves = 1 / (std::floor(*waves) + 1);
    if (saves >= kTail && *achieved < kTailWarps * *possible)
      Add({"part_wave", StrCat("its blocks fill the GPU ", FormatNumber(*waves, 2), " times: the last time not whole"),
           saves, "use a number of blocks that fills the GPU a whole number of times"});
  }

  void Divergence() {
    std::optional<double> threads;
    for (const std::string_view name : {"smsp__thread_inst_executed_per_inst_executed.ratio",
                                        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"})
      if (const auto value = of_.Get(name); value && (!threads || *value < *threads)) threads = value;
    const auto sm = of_.Get("sm__throughput.avg.pct_of_peak_sustained_elapsed");
    if (threads && sm && *threads < kActiveThreads)
      Add({"divergence", StrCat(FormatNumber(*threads, 1), " of the 32 threads of a warp are active in an instruction"),
           (1 - *threads / kWarp) * *sm / 100, "let neighbouring threads take the same branch"});
  }

  void Imbalance() {
    constexpr std::pair<std::string_view, std::string_view> kUnits[] = {{"sm__cycles", "multiprocessors"},
                                                                        {"smsp__cycles", "schedulers"},
                                                                        {"l1tex__cycles", "L1 caches"},
                                                                        {"lts__cycles", "slices of the L2 cache"},
                                                                        {"dram__cycles", "channels of memory"}};
    for (const auto& [unit, words] : kUnits) {
      const auto mean = of_.Get(StrCat(unit, "_active.avg")), most = of_.Get(StrCat(unit, "_active.max"));
      const auto active = of_.Get(StrCat(unit, "_active.sum")), elapsed = of_.Get(StrCat(unit, "_elapsed.sum"));
      if (!mean || !most || !active || !elapsed || *most <= 0 || *elapsed <= 0) continue;
      const double saves = (1 - *mean / *most) * *active / *elapsed;
      if (saves >= kImbalance)
        Add({"imbalance",
             StrCat("some ", words, " work ", FormatNumber(*most / *mean, 2), " times as long as their mean"), saves,
             "split the work evenly over blocks"});
    }
  }

  const LaunchCounters& of_;
  std::optional<double> issues_, free_;
  std::vector<Limit> found_;
};

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<KernelLimitsRows> table;
  for (const RunTrace& of : run.traces()) {
    for (const MeasuredLaunch& launch : MeasuredLaunches(*of.trace))
      for (const Limit& limit : Limits(launch.counters).Find()) {
        auto row = table.Row(of);
        row.Set("launch_index", launch.index).Set("kernel_name", launch.kernel).Set("limit", limit.limit);
        row.Set("what", limit.what).Set("saves_share", limit.saves).Set("advice", limit.advice);
      }
  }
  return table;
}

}  // namespace

ANALYSIS(kernel_limits) = AnalysisOf<KernelLimitsRows>({.run = Compute});

}  // namespace gapless::internal::kernel_limits_analysis
