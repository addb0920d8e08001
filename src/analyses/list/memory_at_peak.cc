// SPDX-License-Identifier: Apache-2.0
// Device memory that lives at the peak, by category and by the line of the program that allocated it.
//
// The peak is the first event after which most was in use, by the allocator's own totals. A block is alive then if it
// was allocated by that time and not yet freed. What the totals have beyond these blocks was allocated before the
// recording began and freed in it: it is a row without a line. A stack belongs to the innermost Python frame that is no
// part of an installed package.
#include "analyses/rows/memory_at_peak.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/memory_peak.h"
#include "base/strings.h"

namespace gapless::internal::memory_at_peak_analysis {
namespace {

struct Group {
  int64_t blocks = 0, bytes = 0, largest = -1;
  StackId stack{};
};
using Key = std::tuple<StringId, StackId>;  // the category, and the frame of the line

// Without events the snapshot's own moment is the only one there is.
std::map<Key, Group> GroupsAt(const Trace& trace, int32_t device, int64_t ts_ns, ProgramLines& lines) {
  const MemoryBlockTable& blocks = trace.memory_blocks;
  std::map<Key, Group> groups;
  for (size_t row = 0; row < blocks.size(); ++row) {
    if (blocks.device[row] != device || !IsBlockAlive(trace, row, ts_ns)) continue;
    Group& group = groups[{blocks.category[row], lines.Of(blocks.stack[row])}];
    const int64_t bytes = blocks.requested_bytes[row];
    ++group.blocks, group.bytes += bytes;
    if (bytes > group.largest) group.largest = bytes, group.stack = blocks.stack[row];
  }
  return groups;
}

void AddRow(const RunTrace& of, int32_t device, const Key& key, const Group& group, int64_t peak,
            TableOf<MemoryAtPeakRows>& table) {
  const Trace& trace = *of.trace;
  const auto& [category, line] = key;
  auto row = table.Row(of);
  row.Set("device", device).Set("category", trace.Text(category));
  if (line.valid())
    row.Set("source_line", StrCat(trace.Text(trace.stacks.file[line.value]), ":", trace.stacks.line[line.value]))
        .Set("function", trace.Text(trace.stacks.function[line.value]));
  if (group.blocks > 0) row.Set("blocks", group.blocks);
  row.Set("bytes", group.bytes).Set("share", ShareOf(group.bytes, peak)).Set("stack_id", of.Id(group.stack));
}

void AddRows(const RunTrace& of, TableOf<MemoryAtPeakRows>& table) {
  const Trace& trace = *of.trace;
  std::map<int32_t, MemoryPeak> peaks = MemoryPeaksOf(trace.memory_events);
  for (const int32_t device : trace.memory_blocks.device) peaks.try_emplace(device);
  ProgramLines lines(trace);
  for (const auto& [device, peak] : peaks) {
    const std::map<Key, Group> groups = GroupsAt(trace, device, peak.ts_ns, lines);
    std::vector<std::pair<Key, Group>> ordered(groups.begin(), groups.end());
    int64_t known = 0;
    for (const auto& [key, group] : ordered) known += group.bytes;
    if (peak.bytes > known) ordered.emplace_back(Key(), Group{.bytes = peak.bytes - known});
    std::ranges::stable_sort(ordered, std::greater(), [](const auto& entry) { return entry.second.bytes; });
    for (const auto& [key, group] : ordered) AddRow(of, device, key, group, std::max(known, peak.bytes), table);
  }
}

bool HasCategories(const MemoryEventTable& events) {
  return std::ranges::any_of(events.category, [](StringId category) { return category != StringId::kNone; });
}

// A timeline of memory by category has changes and no blocks: what each category holds at the peak is the sum of its
// changes until then.
void AddCategories(const RunTrace& of, TableOf<MemoryAtPeakRows>& table) {
  const Trace& trace = *of.trace;
  const MemoryEventTable& events = trace.memory_events;
  for (const auto& [device, peak] : MemoryPeaksOf(events)) {
    std::map<StringId, int64_t> now, at_peak;
    int64_t most = 0;
    for (size_t row = 0; row < events.size(); ++row) {
      if (events.device[row] != device) continue;
      now[events.category[row]] += events.bytes[row];
      if (events.total_allocated[row] > most) most = events.total_allocated[row], at_peak = now;
    }
    std::vector<std::pair<StringId, int64_t>> ordered(at_peak.begin(), at_peak.end());
    std::ranges::stable_sort(ordered, std::greater(), [](const auto& entry) { return entry.second; });
    for (const auto& [category, bytes] : ordered)
      if (bytes > 0) AddRow(of, device, {category, StackId()}, {.bytes = bytes}, most, table);
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<MemoryAtPeakRows> table;
  for (const RunTrace* of : run.primary()) {
    if (of->trace->memory_blocks.size() > 0)
      AddRows(*of, table);
    else if (HasCategories(of->trace->memory_events))
      AddCategories(*of, table);
  }
  return table;
}

}  // namespace

ANALYSIS(memory_at_peak) = AnalysisOf<MemoryAtPeakRows>({.run = Compute});

}  // namespace gapless::internal::memory_at_peak_analysis
