// SPDX-License-Identifier: Apache-2.0
// Functions and operators that are called more often in each recorded step than in the one before.
//
// The complete steps of a process are taken in order, those of all its recordings together. A call site grows when no
// step has fewer calls than the one before, the last has more than the first, and at least half of the steps have more
// than the one before; or, where the process was recorded several times, when each recording begins with more calls
// than the one before ended with. Functions of the user's code come first: they are what can be changed.
//
// Only a run of which the agent saw all steps is looked at, since nothing else shows that steps grow. Linear in the
// slices; of a recording the first kMaxSteps steps and kMaxSites call sites count, which bounds the memory.
#include "analyses/rows/growing_calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/user_code.h"
#include "trace/formats.h"

namespace gapless::internal::growing_calls_analysis {
namespace {

constexpr size_t kMinSteps = 4, kMaxSteps = 256, kMaxSites = 20'000;
constexpr size_t kMaxRows = 20;  // rows per process

// Orders functions before operators.
enum class SiteKind : uint8_t { kFunction, kOperator };

struct Site {
  SiteKind kind;
  std::string name, line;
  auto operator<=>(const Site&) const = default;
};
using Counts = std::vector<int64_t>;  // calls by step

struct Process {
  const RunTrace* of = nullptr;
  std::vector<int64_t> steps;      // numbers
  std::vector<size_t> beginnings;  // positions in `steps` at which a recording begins, but for the first
  std::map<Site, Counts> calls;
};

// "train.py(7): keep_mean" is in the file train.py.
bool IsUsersFrame(std::string_view name) {
  const size_t close = name.find("): "), open = close == name.npos ? close : name.rfind('(', close);
  return open != name.npos && IsUsersFile(name.substr(0, open)) && !name.starts_with("torch/");
}

// Counts the calls of a recording by step. Slices are millions, names and places of calls a few thousand.
class Counter {
 public:
  explicit Counter(const TraceTimeline& timeline)
      : trace_(timeline.trace()), steps_(std::min(timeline.window.steps.size(), kMaxSteps)) {
    position_.assign(trace_.steps.size(), steps_);
    for (size_t i = 0; i < steps_; ++i) position_[timeline.window.steps[i].step.value] = i;
    counted_.resize(trace_.strings.size());
    for (size_t id = 0; id < counted_.size(); ++id)
      counted_[id] = IsUsersFrame(trace_.strings[static_cast<StringId>(id)]);
    const SliceTable& slices = trace_.slices;
    for (size_t row = 0; row < slices.size(); ++row) Add(row);
  }

  void MoveTo(Process& process) const {
    const size_t before = process.steps.size() - steps_;
    for (const auto& [key, counts] : found_) {
      const auto name = static_cast<StringId>(key >> 32), line = static_cast<StringId>(key & UINT32_MAX);
      const SiteKind kind = IsUsersFrame(trace_.Text(name)) ? SiteKind::kFunction : SiteKind::kOperator;
      Counts& all = process.calls[{kind, std::string(trace_.Text(name)), std::string(trace_.Text(line))}];
      all.resize(process.steps.size());
      for (size_t i = 0; i < steps_; ++i) all[before + i] += counts[i];
    }
  }

 private:
  void Add(size_t row) {
    const SliceTable& slices = trace_.slices;
    const bool is_frame = slices.category[row] == SliceCategory::kPython;
    if (!is_frame && slices.category[row] != SliceCategory::kOperator) return;
    const auto name = static_cast<uint32_t>(slices.name[row]);
    if (!slices.step[row].valid() || (is_frame && counted_[name] == 0)) return;
    const size_t at = position_[slices.step[row].value];
    if (at == steps_) return;
    const uint64_t key = uint64_t{name} << 32 | static_cast<uint32_t>(slices.source_line[row]);
    const auto known = found_.find(key);
    if (known == found_.end() && found_.size() == kMaxSites) return;
    Counts& counts = known == found_.end() ? found_[key] : known->second;
    counts.resize(steps_);
    ++counts[at];
  }

  const Trace& trace_;
  size_t steps_;
  std::vector<size_t> position_;                // by row of the step; steps_: it does not count
  std::vector<uint8_t> counted_;                // by name of a frame
  std::unordered_map<uint64_t, Counts> found_;  // by name and line
};

void Count(const TraceTimeline& timeline, Process& process) {
  if (!process.steps.empty()) process.beginnings.push_back(process.steps.size());
  const std::vector<StepWindow>& steps = timeline.window.steps;
  for (size_t i = 0; i < std::min(steps.size(), kMaxSteps); ++i)
    process.steps.push_back(timeline.trace().steps.number[steps[i].step.value]);
  if (!timeline.window.steps.empty()) Counter(timeline).MoveTo(process);
}

bool Grows(const Counts& counts, const std::vector<size_t>& beginnings) {
  if (counts.size() < kMinSteps || !std::is_sorted(counts.begin(), counts.end())) return false;
  if (counts.front() == 0 || counts.back() == counts.front()) return false;
  size_t rises = 0;
  for (size_t i = 1; i < counts.size(); ++i) rises += counts[i] > counts[i - 1] ? 1 : 0;
  const bool between = !beginnings.empty() &&
                       std::ranges::all_of(beginnings, [&](size_t begin) { return counts[begin] > counts[begin - 1]; });
  return between || 2 * rises >= counts.size() - 1;
}

void AddRows(Process& process, TableOf<GrowingCallsRows>& table) {
  std::vector<const std::pair<const Site, Counts>*> growing;
  for (auto& entry : process.calls) {
    entry.second.resize(process.steps.size());
    if (Grows(entry.second, process.beginnings)) growing.push_back(&entry);
  }
  const auto rise = [](const auto* entry) { return entry->second.back() - entry->second.front(); };
  std::stable_sort(growing.begin(), growing.end(), [&](const auto* a, const auto* b) {
    return a->first.kind != b->first.kind ? a->first.kind < b->first.kind : rise(a) > rise(b);
  });
  for (size_t i = 0; i < std::min(growing.size(), kMaxRows); ++i) {
    const auto& [site, counts] = *growing[i];
    auto row = table.Row(*process.of);
    row.Set("kind", site.kind == SiteKind::kFunction ? "function" : "operator").Set("name", site.name);
    row.Set("source_line", site.line).Set("steps", counts.size()).Set("first_calls", counts.front());
    row.Set("last_calls", counts.back()).Set("first_step", process.steps.front());
    row.Set("last_step", process.steps.back());
  }
}

Result<Table> Compute(const Run& run, Tables& tables) {
  TableOf<GrowingCallsRows> table;
  const auto is_agents = [](const RunTrace& of) { return of.trace->info.format == kAgentFormat; };
  if (std::ranges::none_of(run.traces(), is_agents)) return table;
  std::map<int, Process> processes;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    if (timeline.trace().info.format == kAgentFormat) continue;  // it has steps, and nothing that they call
    Process& process = processes[timeline.of->process];
    if (process.of == nullptr) process.of = timeline.of;
    Count(timeline, process);
  }
  for (auto& [index, process] : processes) AddRows(process, table);
  return table;
}

}  // namespace

ANALYSIS(growing_calls) = AnalysisOf<GrowingCallsRows>({.run = Compute});

}  // namespace gapless::internal::growing_calls_analysis
