// SPDX-License-Identifier: Apache-2.0
// Compares the counters of each GPU with each other, over the whole recording.
#include "ingest/dead_counters.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "trace/reading_note.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kUtilization = "gpu.utilization", kPower = "gpu.power", kProfiling = "gpu.dcgm.";
// Series of the share of time that a GPU works. Any of them shows it, so none can be 0 beside another that is not.
constexpr std::string_view kActivities[] = {kUtilization, "gpu.dcgm.engine_active", "gpu.dcgm.sm_active"};
constexpr double kWorks = 0.1;       // share of the time: not a sample that fell between two of another tool
constexpr double kWorksWatts = 200;  // no GPU draws this when it does nothing

struct Series {
  double sum = 0, least = 0, most = 0;
  int64_t count = 0;
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  bool is_zero() const { return count > 0 && least == 0 && most == 0; }
};
using OfDevice = std::map<std::string_view, Series>;

std::map<int32_t, OfDevice> ByDevice(const Trace& trace) {
  std::map<int32_t, OfDevice> devices;
  const CounterTable& counters = trace.counters;
  for (size_t row = 0; row < counters.size(); ++row) {
    const std::string_view name = trace.Text(counters.name[row]);
    if (!name.starts_with("gpu.") || counters.device[row] == kAbsent32) continue;
    Series& series = devices[counters.device[row]][name];
    const double value = counters.value[row];
    series.sum += value, ++series.count;
    series.least = std::min(series.least, value), series.most = std::max(series.most, value);
  }
  return devices;
}

const Series* Find(const OfDevice& device, std::string_view name) {
  const auto at = device.find(name);
  return at == device.end() ? nullptr : &at->second;
}

// Returns what shows that the GPU works: "GPU utilization 98 %", "393 W"; "" if nothing does.
std::string WorkOf(const OfDevice& device) {
  std::vector<std::string> shown;
  for (const std::string_view name : kActivities)
    if (const Series* series = Find(device, name); series != nullptr && series->mean() >= kWorks)
      shown.push_back(StrCat(name, " ", FormatPercent(series->mean())));
  if (const Series* power = Find(device, kPower); power != nullptr && power->mean() >= kWorksWatts)
    shown.push_back(StrCat(FormatNumber(power->mean(), 0), " W"));
  return Join(shown, ", ");
}

// Returns the names of the counters of a GPU that were not measured.
std::set<std::string_view> DeadOf(const OfDevice& device) {
  std::set<std::string_view> dead;
  bool profiles = false;
  for (const std::string_view name : kActivities) {
    const Series* series = Find(device, name);
    if (series == nullptr) continue;
    if (series->is_zero()) dead.insert(name);
    profiles = profiles || (!series->is_zero() && name.starts_with(kProfiling));
  }
  if (dead.empty() || WorkOf(device).empty()) return {};
  for (const auto& [name, series] : device)
    if (!profiles && name.starts_with(kProfiling) && series.is_zero()) dead.insert(name);
  return dead;
}

template <class T>
void KeepRows(Column<T>& column, const std::vector<size_t>& rows) {
  std::vector<T> kept;
  kept.reserve(rows.size());
  for (const size_t row : rows) kept.push_back(column[row]);
  column = std::move(kept);
}

}  // namespace

void DropDeadCounters(Trace& trace) {
  std::map<int32_t, std::set<std::string_view>> dead;
  std::vector<std::string> said;
  for (const auto& [device, series] : ByDevice(trace)) {
    const std::set<std::string_view> names = DeadOf(series);
    if (names.empty()) continue;
    said.push_back(StrCat("GPU ", device, " (", WorkOf(series), "): ", Join({names.begin(), names.end()}, ", ")));
    dead[device] = names;
  }
  if (dead.empty()) return;
  CounterTable& counters = trace.counters;
  std::vector<size_t> kept;
  for (size_t row = 0; row < counters.size(); ++row) {
    const auto of = dead.find(counters.device[row]);
    if (of == dead.end() || !of->second.contains(trace.Text(counters.name[row]))) kept.push_back(row);
  }
  const auto dropped = static_cast<int64_t>(counters.size() - kept.size());
  // The names are texts of the trace, which a new note may move.
  const std::string text =
      StrCat("counters that are 0 while the GPU works were not measured, and are left out: ", Join(said, "; "));
  CounterTable::Visit(counters, [&](std::string_view, auto& column) { KeepRows(column, kept); });
  AddReadingNote(trace, "dead_counters", Severity::kLoss, dropped, text);
}

}  // namespace gapless::internal
