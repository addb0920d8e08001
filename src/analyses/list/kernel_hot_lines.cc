// SPDX-License-Identifier: Apache-2.0
// The lines of measured kernels that hold most samples. An instruction without a line stands for itself.
#include "analyses/rows/kernel_hot_lines.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/stall_reasons.h"

namespace gapless::internal::kernel_hot_lines_analysis {
namespace {

constexpr size_t kMostLines = 10;  // of a launch
constexpr std::string_view kWentOn = "selected";

struct Key {
  std::string_view file{};
  int64_t line = kAbsent;
  std::string_view function{};  // as pc, of instructions without a line
  int64_t pc = kAbsent;
  auto operator<=>(const Key&) const = default;
};

struct HotLine {
  int64_t samples = 0;
  std::map<std::pair<std::string_view, int64_t>, int64_t> instructions{};  // function and place
  std::map<std::string_view, int64_t> stalls{};
};

struct Launch {
  std::string_view kernel{};
  int64_t samples = 0;
  std::map<Key, HotLine> lines{};
};

std::map<int64_t, Launch> LaunchesWithLines(const Trace& trace) {
  std::map<int64_t, Launch> launches;
  const KernelLineTable& rows = trace.kernel_lines;
  for (size_t row = 0; row < rows.size(); ++row) {
    Launch& launch = launches[rows.launch_index[row]];
    launch.kernel = trace.Text(rows.kernel_name[row]);
    const std::string_view function = trace.Text(rows.function[row]), stall = trace.Text(rows.stall[row]);
    const bool known = rows.line[row] != kAbsent;
    HotLine& line = launch.lines[known ? Key{trace.Text(rows.file[row]), rows.line[row]}
                                       : Key{.function = function, .pc = rows.pc[row]}];
    launch.samples += rows.samples[row];
    line.samples += rows.samples[row];
    line.instructions[{function, rows.pc[row]}] += rows.samples[row];
    if (!stall.empty() && stall != kWentOn) line.stalls[stall] += rows.samples[row];
  }
  return launches;
}

// The lines with most samples, in that order.
std::vector<std::pair<Key, const HotLine*>> Hottest(const Launch& launch) {
  std::vector<std::pair<Key, const HotLine*>> lines;
  for (const auto& [key, line] : launch.lines) lines.emplace_back(key, &line);
  std::ranges::stable_sort(lines, [](const auto& a, const auto& b) { return a.second->samples > b.second->samples; });
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  return lines;
}

template <class Counts>
auto MostOf(const Counts& counts) {
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
}

void AddLine(const Key& key, const HotLine& line, int64_t all, TableOf<KernelHotLinesRows>::RowWriter& row) {
  const auto busiest = MostOf(line.instructions);
  row.Set("file", key.file).Set("line", key.line).Set("function", busiest->first.first);
  row.Set("pc", busiest->first.second).Set("samples", line.samples).Set("share", ShareOf(line.samples, all));
  if (line.stalls.empty()) return;
  const auto stall = MostOf(line.stalls);
  row.Set("stall", stall->first).Set("stall_share", ShareOf(stall->second, line.samples));
  row.Set("waits_for", WaitsFor(stall->first));
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<KernelHotLinesRows> table;
  for (const RunTrace& of : run.traces())
    for (const auto& [index, launch] : LaunchesWithLines(*of.trace))
      for (const auto& [key, line] : Hottest(launch)) {
        auto row = table.Row(of);
        row.Set("launch_index", index).Set("kernel_name", launch.kernel);
        AddLine(key, *line, launch.samples, row);
      }
  return table;
}

}  // namespace

ANALYSIS(kernel_hot_lines) = AnalysisOf<KernelHotLinesRows>({.run = Compute});

}  // namespace gapless::internal::kernel_hot_lines_analysis
