// SPDX-License-Identifier: Apache-2.0
// The ranks of a job side by side: what each did itself, how long it waited in collectives for others, which one the
// others waited for, and what it took longer over than the median rank.
//
// A rank that is slow makes the others wait, not itself: its step is no longer than theirs. What gives it away is that
// it waits least (collective_match.h), and that something of its own takes longer: more kernel work, the same kernels
// run more slowly, or its device idles for data, launches, synchronisation or the host. Kernel work and speed are
// separated by name: `work` is what the rank's kernels would take if each took as long as on the median rank.
//
// Own work and kernels are those of tables rank_work and rank_kernels. Stretches of one process are one rank.
#include "analyses/rows/ranks.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/collective_match.h"
#include "analyses/columns.h"
#include "analyses/gather.h"
#include "analyses/rows/rank_kernels.h"
#include "analyses/rows/rank_work.h"

namespace gapless::internal::ranks_analysis {
namespace {

enum Part : uint8_t { kWork, kSpeed, kCopies, kData, kLaunch, kSync, kHost, kUnknown, kParts };
constexpr std::string_view kPartNames[kParts] = {"more_kernel_work", "slower_kernels", "copies", "data",
                                                 "launch",           "sync",           "host",   "unknown"};

struct KernelSum {
  int64_t count = 0, ns = 0;
};

struct Device {
  const TraceTimeline* timeline = nullptr;
  const DeviceTimeline* on = nullptr;
  int64_t compute_ns = 0, copies_ns = 0, kernels = 0, kernel_ns = 0;
  double work_ns = 0;
  std::array<int64_t, kIdleCauses> idle{};
  int64_t waiting_ns = kAbsent, opening_ns = kAbsent, compared = 0, times_last = 0, caused_ns = 0, times_first = 0;
  std::vector<std::pair<std::string_view, KernelSum>> by_name;
  std::string_view more_work, slower;  // kernels with most of what the device is behind in
  std::vector<int64_t> step_ns;        // duration of each complete step
  int64_t wall_ns = 0, exposed_comm_ns = 0;

  int64_t steps() const { return static_cast<int64_t>(step_ns.size()); }
  int64_t PerStep(int64_t ns) const { return ns / std::max<int64_t>(1, steps()); }
  int64_t own_ns() const { return compute_ns + copies_ns; }
};

// OwnWork is what the analyses rank_work and rank_kernels say of a device.
struct OwnWork {
  size_t row = 0;                                                 // of rank_work
  std::vector<std::pair<std::string_view, KernelSum>> kernels{};  // in the order of rank_kernels
};
using DeviceKey = std::pair<int64_t, int64_t>;  // recording and device number

std::map<DeviceKey, OwnWork> OwnWorkOf(const RankWorkRows& work, const RankKernelsRows& kernels) {
  std::map<DeviceKey, OwnWork> all;
  for (size_t row = 0; row < work.rows(); ++row) all[{work.Int(row, "trace"), work.Int(row, "device")}].row = row;
  for (size_t row = 0; row < kernels.rows(); ++row)
    all[{kernels.Int(row, "trace"), kernels.Int(row, "device")}].kernels.emplace_back(
        kernels.Text(row, "kernel"), KernelSum{kernels.Int(row, "calls"), kernels.Int(row, "total_ns")});
  return all;
}

void AddOwnWork(const RankWorkRows& work, OwnWork own, Device& device) {
  device.compute_ns = work.Int(own.row, "compute_ns"), device.copies_ns = work.Int(own.row, "copies_ns");
  device.kernels = work.Int(own.row, "kernels"), device.kernel_ns = work.Int(own.row, "kernel_ns");
  constexpr RankWorkRows::IntColumn kIdle[kIdleCauses] = {"idle_data_ns", "idle_launch_ns", "idle_sync_ns",
                                                          "idle_host_ns", "idle_unknown_ns"};
  for (size_t cause = 0; cause < kIdleCauses; ++cause) device.idle[cause] = work.Int(own.row, kIdle[cause]);
  device.by_name = std::move(own.kernels);
}

// Rows of the collectives in a recording's window, by device.
std::map<int32_t, std::vector<size_t>> CollectivesOf(const TraceTimeline& timeline) {
  std::map<int32_t, std::vector<size_t>> by_device;
  const CollectiveTable& all = timeline.trace().collectives;
  const RowRange rows = RowsWithin(all.ts_ns, timeline.window.span);
  for (size_t row = rows.first; row < rows.last; ++row) by_device[all.device[row]].push_back(row);
  return by_device;
}

// `rows`: collectives of the device; `matches`: by row of the recording's collectives.
void AddWaits(const std::vector<size_t>& rows, const std::vector<CollectiveMatch>& matches, Device& device) {
  const CollectiveTable& all = device.timeline->trace().collectives;
  Intervals waits, opening;
  bool matched = false;
  for (const size_t row : rows) {
    const CollectiveMatch& match = matches[row];
    if (match.wait_ns == kAbsent) continue;
    matched = true;
    AppendMerged(match.opening ? opening : waits, {all.ts_ns[row], all.ts_ns[row] + match.wait_ns});
    if (match.opening) continue;
    ++device.compared, device.times_last += match.last, device.times_first += match.first;
    device.caused_ns += match.caused_ns;
  }
  if (!matched) return;
  const CollectivesScale scaled(device.timeline->trace());
  device.compared = scaled(device.compared), device.caused_ns = scaled(device.caused_ns);
  device.times_last = scaled(device.times_last), device.times_first = scaled(device.times_first);
  device.waiting_ns = scaled(Total(Intersect(waits, device.on->exposed_communication)));
  device.opening_ns = Total(Intersect(opening, device.on->exposed_communication));
}

Device Read(const TraceTimeline& timeline, const DeviceTimeline& on) {
  Device device;
  device.timeline = &timeline, device.on = &on;
  for (const StepWindow& step : timeline.window.steps) device.step_ns.push_back(step.span.length());
  device.wall_ns = timeline.window.span.length(), device.exposed_comm_ns = Total(on.exposed_communication);
  return device;
}

int64_t SumOfPresent(int64_t a, int64_t b) { return a == kAbsent ? b : b == kAbsent ? a : a + b; }

// Adds a later stretch of the same process, on the same device.
void AddStretch(Device& device, const Device& later) {
  device.step_ns.insert(device.step_ns.end(), later.step_ns.begin(), later.step_ns.end());
  device.wall_ns += later.wall_ns, device.exposed_comm_ns += later.exposed_comm_ns;
  device.compute_ns += later.compute_ns, device.copies_ns += later.copies_ns;
  device.kernels += later.kernels, device.kernel_ns += later.kernel_ns;
  device.waiting_ns = SumOfPresent(device.waiting_ns, later.waiting_ns);
  device.opening_ns = SumOfPresent(device.opening_ns, later.opening_ns);
  device.compared += later.compared, device.times_last += later.times_last, device.times_first += later.times_first;
  device.caused_ns += later.caused_ns;
  for (size_t cause = 0; cause < kIdleCauses; ++cause) device.idle[cause] += later.idle[cause];
  std::unordered_map<std::string_view, size_t> places;  // into device.by_name
  for (const auto& known : device.by_name) places.emplace(known.first, places.size());
  for (const auto& [name, sum] : later.by_name) {
    const auto [place, is_new] = places.try_emplace(name, device.by_name.size());
    if (is_new) device.by_name.emplace_back(name, KernelSum());
    KernelSum& known = device.by_name[place->second].second;
    known.count += sum.count, known.ns += sum.ns;
  }
}

// `zeros`: how many more values there are, all 0; none of the others is negative then.
double MedianOf(std::vector<double> values, size_t zeros = 0) {
  std::sort(values.begin(), values.end());
  const size_t count = zeros + values.size(), half = count / 2;
  const auto at = [&](size_t place) { return place < zeros ? 0 : values[place - zeros]; };
  return count % 2 == 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}

// A kernel name over all devices.
struct Median {
  std::vector<double> means, counts;  // values of the devices that have the kernel
  double mean_ns = 0, count = 0;      // medians; of the count over all devices
};
using Medians = std::unordered_map<std::string_view, Median>;

Medians MediansOf(const std::vector<Device>& devices) {
  Medians medians;
  for (const Device& device : devices)
    for (const auto& [name, sum] : device.by_name) {
      medians[name].means.push_back(static_cast<double>(sum.ns) / static_cast<double>(sum.count));
      medians[name].counts.push_back(static_cast<double>(sum.count));
    }
  for (auto& [name, median] : medians) {
    median.mean_ns = MedianOf(median.means);
    median.count = MedianOf(median.counts, devices.size() - median.counts.size());
  }
  return medians;
}

// Computes the time of each device's kernels at the speed of the median device, and the kernels that stand out. Kernels
// that some devices lack keep their time.
void SetWork(std::vector<Device>& devices) {
  const Medians medians = MediansOf(devices);
  for (Device& device : devices) {
    double most_work = 0, most_slower = 0;
    for (const auto& [name, sum] : device.by_name) {
      const Median& median = medians.at(name);
      const auto ns = static_cast<double>(sum.ns), count = static_cast<double>(sum.count);
      const double work = median.means.size() == devices.size() ? median.mean_ns * count : ns;
      device.work_ns += work;
      if (const double more = work - median.mean_ns * median.count; more > most_work)
        most_work = more, device.more_work = name;
      if (ns - work > most_slower) most_slower = ns - work, device.slower = name;
    }
  }
}

std::array<double, kParts> PartsOf(const Device& device) {
  const auto steps = static_cast<double>(std::max<int64_t>(1, device.steps()));
  std::array<double, kParts> parts{device.work_ns, static_cast<double>(device.kernel_ns) - device.work_ns,
                                   static_cast<double>(device.copies_ns)};
  constexpr std::array<IdleCause, kIdleCauses> kOrder = {IdleCause::kData, IdleCause::kLaunch, IdleCause::kSync,
                                                         IdleCause::kHost, IdleCause::kUnknown};
  for (size_t i = 0; i < kIdleCauses; ++i)
    parts[kData + i] = static_cast<double>(device.idle[static_cast<size_t>(kOrder[i])]);
  for (double& part : parts) part /= steps;
  return parts;
}

struct Behind {
  std::string_view part;
  int64_t ns = kAbsent;
};

std::vector<Behind> WhatIsBehind(const std::vector<Device>& devices) {
  std::vector<Behind> behind(devices.size());
  if (devices.size() < 2) return behind;
  std::vector<std::array<double, kParts>> parts;
  for (const Device& device : devices) parts.push_back(PartsOf(device));
  for (size_t part = 0; part < kParts; ++part) {
    std::vector<double> values;
    for (const auto& item : parts) values.push_back(item[part]);
    const double median = MedianOf(values);
    for (size_t i = 0; i < devices.size(); ++i)
      if (const auto more = static_cast<int64_t>(values[i] - median); more > std::max<int64_t>(0, behind[i].ns))
        behind[i] = {kPartNames[part], more};
  }
  return behind;
}

void AddRow(const Device& device, int64_t least_own, bool many, const Behind& behind, TableOf<RanksRows>& table) {
  std::vector<int64_t> step_ns = device.step_ns;
  auto row = table.Row(*device.timeline->of);
  row.Set("device", device.on->device).Set("steps", device.steps()).Set("step_ns", Percentile(step_ns, 0.5));
  row.Set("wall_ns", device.wall_ns).Set("own_ns", device.own_ns());
  row.Set("own_per_step_ns", device.PerStep(device.own_ns())).Set("exposed_comm_ns", device.exposed_comm_ns);
  row.Set("waiting_ns", device.waiting_ns).Set("opening_waiting_ns", device.opening_ns);
  row.Set("compared", device.compared).Set("times_last", device.times_last).Set("caused_wait_ns", device.caused_ns);
  row.Set("times_first", device.times_first).Set("kernels", device.kernels).Set("kernel_ns", device.kernel_ns);
  if (many) {
    const auto work = static_cast<int64_t>(device.work_ns);
    row.Set("imbalance", ShareOf(device.PerStep(device.own_ns()), least_own)).Set("kernel_work_ns", work);
    row.Set("slowdown", ShareOf(device.kernel_ns, work));
  }
  row.SetEach({"idle_data_ns", "idle_launch_ns", "idle_sync_ns", "idle_host_ns", "idle_unknown_ns"}, device.idle);
  row.Set("behind", behind.part).Set("behind_ns", behind.ns);
  if (behind.part == kPartNames[kWork]) row.Set("behind_kernel", device.more_work);
  if (behind.part == kPartNames[kSpeed]) row.Set("behind_kernel", device.slower);
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<RanksRows> table;
  const CollectiveMatches& matches = tables.OnceForRun(MatchPrimary);
  std::vector<Device> devices;
  std::map<std::pair<int, int32_t>, size_t> places;  // process and device number -> in devices
  const auto work = tables.Get<RankWorkRows>();
  std::map<DeviceKey, OwnWork> own = OwnWorkOf(work, tables.Get<RankKernelsRows>());
  size_t position = 0;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const std::map<int32_t, std::vector<size_t>> collectives = CollectivesOf(timeline);
    for (const DeviceTimeline& on : timeline.devices) {
      Device device = Read(timeline, on);
      if (const auto its = own.find({timeline.of->index, on.device}); its != own.end())
        AddOwnWork(work, std::move(its->second), device);
      if (const auto its = collectives.find(on.device); its != collectives.end())
        AddWaits(its->second, matches[position], device);
      const auto [place, is_new] = places.try_emplace({timeline.of->process, on.device}, devices.size());
      is_new ? devices.push_back(std::move(device)) : AddStretch(devices[place->second], device);
    }
    ++position;
  }
  SetWork(devices);
  const std::vector<Behind> behind = WhatIsBehind(devices);
  int64_t least = std::numeric_limits<int64_t>::max();
  std::vector<size_t> order;
  for (const Device& device : devices) {
    least = std::min(least, device.PerStep(device.own_ns()));
    order.push_back(order.size());
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Device &x = devices[a], &y = devices[b];
    return x.caused_ns != y.caused_ns ? x.caused_ns > y.caused_ns : x.PerStep(x.own_ns()) > y.PerStep(y.own_ns());
  });
  for (const size_t i : order) AddRow(devices[i], least, devices.size() > 1, behind[i], table);
  return table;
}

}  // namespace

ANALYSIS(ranks) = AnalysisOf<RanksRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::ranks_analysis
