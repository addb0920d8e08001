// SPDX-License-Identifier: Apache-2.0
// Kernels whose hardware metrics were measured (kernel_metric), with what they take in the timeline.
//
// A profiler of kernels measures launches of another execution, so a measured launch is found in the timeline by what
// both know of it: the name, the grid and the block. Names are compared whole where both have their template arguments,
// else by the function's name alone (kernel_names.h). Where several kernels of the timeline fit and as many launches
// were measured as there are, both are paired in their order; where the numbers differ, all that fit are meant.
#include "analyses/rows/measured_kernels.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/kernel_names.h"
#include "base/strings.h"

namespace gapless::internal::measured_kernels_analysis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kWarpThreads = 32;

enum Metric : uint8_t { kDuration, kSm, kDram, kOccupancy, kWarp, kRegisters, kShared, kMetrics };

struct NamedMetric {
  std::string_view name;
  Metric metric;
  double factor = 1;
};
constexpr NamedMetric kNames[] = {
    {"gpu__time_duration.sum", kDuration},
    {"gpu__time_duration.avg", kDuration},
    {"duration", kDuration},           // ROCm's profilers, as all below that are not NVIDIA's
    {"OccupancyPercent", kOccupancy},  // resident waves, of the most possible
    {"VALUUtilization", kWarp},        // active threads of an executed instruction, of a wave
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", kSm},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", kDram},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", kDram},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", kOccupancy},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", kWarp, 100 / kWarpThreads},
    {"smsp__thread_inst_executed_per_inst_executed.pct", kWarp},
    {"launch__registers_per_thread", kRegisters},
    {"launch__shared_mem_per_block", kShared},
    {"launch__shared_mem_per_block_static", kShared},
    {"launch__shared_mem_per_block_dynamic", kShared},
};

// "(1024, 1, 1)", "1024,1,1" or "1024 x 1 x 1" as three numbers; zeros: none can be read.
using Size = std::array<int32_t, 3>;
Size SizeFrom(std::string_view text) {
  Size size{};
  size_t found = 0;
  for (const char* at = text.data(); at < text.data() + text.size() && found < size.size();) {
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), size[found]);
    if (error == std::errc()) ++found;
    at = error == std::errc() ? end : at + 1;
  }
  return found == size.size() ? size : Size{};
}

std::string SizeText(const Size& size) { return size[0] <= 0 ? "" : StrCat(size[0], "x", size[1], "x", size[2]); }

struct Launch {
  int64_t index = 0;
  std::string kernel{};
  Size grid{}, block{};
  std::array<double, kMetrics> metrics{};
  std::string matched{};  // name in the timeline; empty: none, or several
};

struct Means {
  std::array<double, kMetrics> sum{};
  std::array<int64_t, kMetrics> count{};
  int64_t first = 0, launches = 0;
  double Of(Metric metric) const { return count[metric] > 0 ? sum[metric] / static_cast<double>(count[metric]) : kNan; }
};

// Operations of the timeline with one function name, grid and block.
struct Place {
  std::string function{};
  Size grid{}, block{};
  auto operator<=>(const Place&) const = default;
};
struct TimelineOp {
  std::string_view name;
  int64_t dur_ns = 0, id = 0;
};
using Timeline = std::map<Place, std::vector<TimelineOp>>;

void TakeMetric(const KernelMetricTable& rows, size_t row, const Trace& trace, Launch& launch) {
  const std::string_view metric = trace.Text(rows.metric[row]);
  if (metric == "grid") launch.grid = SizeFrom(trace.Text(rows.text[row]));
  if (metric == "block") launch.block = SizeFrom(trace.Text(rows.text[row]));
  const auto* const known = std::ranges::find(kNames, metric, &NamedMetric::name);
  if (known == std::end(kNames) || std::isnan(rows.value[row])) return;
  double& value = launch.metrics[known->metric];
  const double scaled = rows.value[row] * known->factor;
  value = known->metric == kShared && !std::isnan(value) ? value + scaled : scaled;  // static and dynamic add up
}

std::vector<Launch> LaunchesOf(const Trace& trace) {
  std::map<int64_t, Launch> launches;
  const KernelMetricTable& rows = trace.kernel_metrics;
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto [at, is_new] = launches.try_emplace(rows.launch_index[row]);
    if (is_new) {
      at->second.index = rows.launch_index[row];
      at->second.kernel = trace.Text(rows.kernel_name[row]);
      at->second.metrics.fill(kNan);
    }
    TakeMetric(rows, row, trace, at->second);
  }
  std::vector<Launch> all;
  for (auto& [index, launch] : launches) all.push_back(std::move(launch));
  return all;
}

Timeline TimelineOf(Tables& tables) {
  Timeline timeline;
  std::map<std::string_view, std::string> functions;
  for (const TraceTimeline& of : tables.Timelines())
    for (const DeviceTimeline& device : of.devices)
      for (const uint32_t row : device.RowsInWindow()) {
        const GpuOpTable& ops = of.trace().gpu_ops;
        if (ops.kind[row] != GpuOpKind::kKernel) continue;
        const std::string_view name = of.trace().Text(ops.name[row]);
        std::string& function = functions[name];
        if (function.empty()) function = KernelFunction(name);
        const auto size = [](int32_t x, int32_t y, int32_t z) { return x > 0 ? Size{x, y, z} : Size{}; };
        const Place place{function, size(ops.grid_x[row], ops.grid_y[row], ops.grid_z[row]),
                          size(ops.block_x[row], ops.block_y[row], ops.block_z[row])};
        timeline[place].push_back({name, ops.dur_ns[row], of.of->Id(GpuOpId(row))});
      }
  return timeline;
}

// The operations with the function's name, and with grid and block where both sides know them.
std::vector<TimelineOp> Fitting(const Timeline& timeline, const Place& place) {
  std::vector<TimelineOp> found;
  for (auto at = timeline.lower_bound({place.function, {}, {}}); at != timeline.end(); ++at) {
    if (at->first.function != place.function) break;
    const auto same = [](const Size& a, const Size& b) { return a[0] <= 0 || b[0] <= 0 || a == b; };
    if (same(at->first.grid, place.grid) && same(at->first.block, place.block))
      found.insert(found.end(), at->second.begin(), at->second.end());
  }
  std::ranges::stable_sort(found, {}, &TimelineOp::id);  // ids are in the order of time
  return found;
}

// Keeps those with the whole name of the launch, where some have it.
void KeepSameName(const std::string& kernel, std::vector<TimelineOp>& found) {
  if (kernel.find('<') == std::string::npos) return;
  const std::string plain = PlainKernelName(kernel);
  std::vector<TimelineOp> same;
  for (const TimelineOp& op : found)
    if (op.name == kernel || PlainKernelName(op.name) == plain) same.push_back(op);
  if (!same.empty()) found = std::move(same);
}

// Names the kernel of the timeline that each launch is: the only one that fits, or the one in the same place of the
// order.
void Match(const Timeline& timeline, std::vector<Launch>& launches) {
  std::map<Place, std::vector<Launch*>> by_place;
  for (Launch& launch : launches)
    by_place[{KernelFunction(launch.kernel), launch.grid, launch.block}].push_back(&launch);
  for (auto& [place, group] : by_place) {
    const std::vector<TimelineOp> fitting = Fitting(timeline, place);
    for (size_t i = 0; i < group.size(); ++i) {
      std::vector<TimelineOp> found = fitting;
      KeepSameName(group[i]->kernel, found);
      const bool one_name = std::ranges::all_of(found, [&](const TimelineOp& op) { return op.name == found[0].name; });
      if (!found.empty() && one_name)
        group[i]->matched = found[0].name;
      else if (fitting.size() == group.size())
        group[i]->matched = fitting[i].name;
    }
  }
}

struct Group {
  std::string kernel{}, matched{};
  Size grid{}, block{};
  auto operator<=>(const Group&) const = default;
};

void AddRow(const RunTrace& of, const Group& group, const Means& means, const Timeline& timeline,
            TableOf<MeasuredKernelsRows>& table) {
  std::vector<TimelineOp> found = Fitting(timeline, {KernelFunction(group.kernel), group.grid, group.block});
  if (group.matched.empty())
    KeepSameName(group.kernel, found);
  else
    std::erase_if(found, [&](const TimelineOp& op) { return op.name != group.matched; });
  const auto longest = std::ranges::max_element(found, {}, &TimelineOp::dur_ns);
  int64_t total_ns = 0;
  for (const TimelineOp& op : found) total_ns += op.dur_ns;
  const auto whole = [&](Metric metric) {
    return std::isnan(means.Of(metric)) ? kAbsent : std::llround(means.Of(metric));
  };
  auto row = table.Row(of);
  row.Set("kernel_name", group.matched.empty() ? group.kernel : group.matched).Set("grid", SizeText(group.grid));
  row.Set("block", SizeText(group.block)).Set("launch_index", means.first).Set("launches", means.launches);
  row.Set("duration_ns", means.Of(kDuration)).Set("sm_pct", means.Of(kSm)).Set("dram_pct", means.Of(kDram));
  row.Set("occupancy_pct", means.Of(kOccupancy)).Set("warp_efficiency_pct", means.Of(kWarp));
  row.Set("registers", whole(kRegisters)).Set("shared_bytes", whole(kShared));
  row.Set("calls", found.empty() ? kAbsent : static_cast<int64_t>(found.size()));
  row.Set("total_ns", found.empty() ? kAbsent : total_ns).Set("gpu_op_id", found.empty() ? kAbsent : longest->id);
}

Result<Table> Compute(const Run& run, Tables& tables) {
  TableOf<MeasuredKernelsRows> table;
  std::optional<Timeline> timeline;
  for (const RunTrace& of : run.traces()) {
    if (of.trace->kernel_metrics.size() == 0) continue;
    if (!timeline) timeline = TimelineOf(tables);
    std::vector<Launch> launches = LaunchesOf(*of.trace);
    Match(*timeline, launches);
    std::map<Group, Means> groups;
    for (const Launch& launch : launches) {
      const auto [at, is_new] = groups.try_emplace({launch.kernel, launch.matched, launch.grid, launch.block});
      Means& means = at->second;
      if (is_new) means.first = launch.index;
      ++means.launches;
      for (size_t metric = 0; metric < kMetrics; ++metric)
        if (!std::isnan(launch.metrics[metric])) means.sum[metric] += launch.metrics[metric], ++means.count[metric];
    }
    for (const auto& [group, means] : groups) AddRow(of, group, means, *timeline, table);
  }
  return table;
}

}  // namespace

ANALYSIS(measured_kernels) = AnalysisOf<MeasuredKernelsRows>({.run = Compute});

}  // namespace gapless::internal::measured_kernels_analysis
