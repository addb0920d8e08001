// SPDX-License-Identifier: Apache-2.0
// Device memory that changes would free at the peak, each alone, from what lives then by category.
//
//   checkpoint         activations, less what stays: see checkpoint_blocks.h. Without stacks all of them are the most
//   amp                half of the activations: the most, since their types are not recorded, and those that have two
//                      bytes already stay. Absent where a stack shows autocast
//   offload            activations of 1 MiB and more, which is what the fix moves, less the largest, which is on its
//   way;
//                      the most, since not all are kept for the backward pass
//   offload_optimizer  the state of the optimiser: the most, since a step on the device needs parts of it back
//   allocator          what the allocator holds and nothing uses at the peak: the most, since some is merely kept for
//                      later. Absent where segments can be extended already
//
// Memory that is in use at the peak is freed at the peak: another moment may then be the highest. It falls at most to
// the highest of what is in use besides the category, which is `peak_drop_bytes`. A row needs something to free.
#include "analyses/rows/memory_savings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/checkpoint_blocks.h"
#include "analyses/columns.h"
#include "analyses/memory_peak.h"
#include "analyses/rows/memory.h"
#include "base/strings.h"

namespace gapless::internal::memory_savings_analysis {
namespace {

constexpr int64_t kLeastOffloaded = int64_t{1} << 20;  // of the fix `offload`
constexpr std::string_view kActivation = "activation", kOptimizerState = "optimizer_state";

// Bytes of a category at the peak, and bytes of all else in the highest moment of all else.
struct Category {
  int64_t held = 0;
  int64_t most_else = kAbsent;
};

struct Held {
  MemoryPeak peak;
  Category activations, optimizer;
  std::vector<Activation> alive{};  // blocks of activations, in the order in which they were made
};

struct Saving {
  std::string_view change, bound = "most";
  int64_t held = 0, freed = 0;
  int64_t most_else = kAbsent;
  std::optional<CheckpointSaving> modules{};
};

// Before the first event a category has what its blocks without a time hold.
int64_t HeldBefore(const Trace& trace, int32_t device, std::string_view category) {
  const MemoryBlockTable& blocks = trace.memory_blocks;
  int64_t bytes = 0;
  for (size_t row = 0; row < blocks.size(); ++row)
    if (blocks.device[row] == device && blocks.alloc_ts_ns[row] == kAbsent &&
        trace.Text(blocks.category[row]) == category && IsBlockAlive(trace, row, kAbsent))
      bytes += blocks.requested_bytes[row];
  return bytes;
}

Category CategoryOf(const Trace& trace, int32_t device, std::string_view category) {
  const MemoryEventTable& events = trace.memory_events;
  const StringId id = trace.strings.Find(category);
  Category found{.held = HeldBefore(trace, device, category)};
  int64_t now = found.held, most = 0;
  for (size_t row = 0; row < events.size(); ++row) {
    const int64_t total = events.total_allocated[row];
    if (events.device[row] != device || events.device_type[row] == 0 || total == kAbsent) continue;
    if (events.category[row] == id && id != StringId::kNone) now += events.bytes[row];
    if (total > most) most = total, found.held = now;
    found.most_else = std::max(found.most_else, total - now);
  }
  return found;
}

Held HeldOn(const Trace& trace, int32_t device, const MemoryPeak& peak) {
  Held held{.peak = peak,
            .activations = CategoryOf(trace, device, kActivation),
            .optimizer = CategoryOf(trace, device, kOptimizerState)};
  const MemoryBlockTable& blocks = trace.memory_blocks;
  std::vector<std::pair<int64_t, size_t>> made;
  for (size_t row = 0; row < blocks.size(); ++row)
    if (blocks.device[row] == device && trace.Text(blocks.category[row]) == kActivation &&
        IsBlockAlive(trace, row, peak.ts_ns))
      made.emplace_back(blocks.alloc_ts_ns[row], row);
  std::ranges::sort(made);
  for (const auto& [ts_ns, row] : made) held.alive.push_back({blocks.stack[row], blocks.requested_bytes[row]});
  return held;
}

bool UsesAutocast(const Trace& trace) {
  for (size_t row = 0; row < trace.stacks.size(); ++row)
    if (trace.Text(trace.stacks.function[row]).starts_with("at::autocast::") ||
        trace.Text(trace.stacks.file[row]).ends_with("autocast_mode.py"))
      return true;
  return false;
}

Saving OffloadOf(const Held& held) {
  int64_t moved = 0, largest = 0;
  for (const Activation& one : held.alive)
    if (one.bytes >= kLeastOffloaded) moved += one.bytes, largest = std::max(largest, one.bytes);
  return {.change = "offload",
          .held = held.activations.held,
          .freed = moved - largest,
          .most_else = held.activations.most_else};
}

std::vector<Saving> SavingsOf(const Trace& trace, const Held& held) {
  const Category& activations = held.activations;
  Saving checkpoint{.change = "checkpoint", .held = activations.held, .most_else = activations.most_else};
  if (trace.memory_blocks.size() == 0)
    checkpoint.freed = activations.held;
  else if ((checkpoint.modules = FindCheckpointSaving(trace, held.alive)))
    checkpoint.freed = checkpoint.modules->freed_bytes, checkpoint.bound = "estimate";
  std::vector<Saving> all{checkpoint};
  if (!UsesAutocast(trace))
    all.push_back(
        {.change = "amp", .held = activations.held, .freed = activations.held / 2, .most_else = activations.most_else});
  all.push_back(OffloadOf(held));
  all.push_back({.change = "offload_optimizer",
                 .held = held.optimizer.held,
                 .freed = held.optimizer.held,
                 .most_else = held.optimizer.most_else});
  return all;
}

void AddRow(const RunTrace& of, int32_t device, int64_t peak, const Saving& saving, ProgramLines* lines,
            TableOf<MemorySavingsRows>& table) {
  if (saving.freed <= 0) return;
  const Trace& trace = *of.trace;
  auto row = table.Row(of);
  row.Set("device", device).Set("change", saving.change).Set("peak_bytes", peak);
  row.Set("held_bytes", saving.held).Set("freed_bytes", saving.freed).Set("share", ShareOf(saving.freed, peak));
  if (saving.most_else != kAbsent) row.Set("peak_drop_bytes", std::min(saving.freed, peak - saving.most_else));
  row.Set("bound", saving.bound);
  if (!saving.modules) return;
  row.Set("modules", saving.modules->modules);
  if (const StackId line = lines->Of(saving.modules->call); line.valid())
    row.Set("source_line", StrCat(trace.Text(trace.stacks.file[line.value]), ":", trace.stacks.line[line.value]));
}

void AddAllocator(const RunTrace& of, const MemoryRows& memory, int32_t device, TableOf<MemorySavingsRows>& table) {
  if (ExtendsSegments(*of.trace)) return;
  for (size_t row = 0; row < memory.rows(); ++row) {
    if (memory.Int(row, "trace") != of.index || memory.IsNull(row, "device") || memory.Int(row, "device") != device ||
        memory.IsNull(row, "unused_at_peak_bytes"))
      continue;
    const int64_t unused = memory.Int(row, "unused_at_peak_bytes");
    AddRow(of, device, memory.Int(row, "peak_allocated_bytes") + unused,
           {.change = "allocator", .held = unused, .freed = unused}, nullptr, table);
  }
}

// Without events the snapshot's own moment is the only one there is.
std::map<int32_t, MemoryPeak> PeaksOf(const Trace& trace) {
  std::map<int32_t, MemoryPeak> peaks = MemoryPeaksOf(trace.memory_events);
  const MemoryBlockTable& blocks = trace.memory_blocks;
  for (size_t row = 0; row < blocks.size(); ++row) {
    MemoryPeak& peak = peaks[blocks.device[row]];
    if (peak.ts_ns == kAbsent && IsBlockAlive(trace, row, kAbsent)) peak.bytes += blocks.requested_bytes[row];
  }
  return peaks;
}

Result<Table> Compute(const Run& run, Tables& tables) {
  TableOf<MemorySavingsRows> table;
  const auto memory = tables.Get<MemoryRows>();
  for (const RunTrace* of : run.primary()) {
    const Trace& trace = *of->trace;
    ProgramLines lines(trace);
    for (const auto& [device, peak] : PeaksOf(trace)) {
      const Held held = HeldOn(trace, device, peak);
      for (const Saving& saving : SavingsOf(trace, held)) AddRow(*of, device, peak.bytes, saving, &lines, table);
      AddAllocator(*of, memory, device, table);
    }
  }
  return table;
}

}  // namespace

ANALYSIS(memory_savings) = AnalysisOf<MemorySavingsRows>({.run = Compute});

}  // namespace gapless::internal::memory_savings_analysis
