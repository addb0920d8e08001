// SPDX-License-Identifier: Apache-2.0
// Counts how often gradients are exchanged between two updates: in the last of several passes, or after each of them.
//
// DistributedDataParallel marks each forward pass of the model, and optimisers mark their updates. A pass exchanges
// when an all-reduce (FSDP: a reduce-scatter) is called between it and the next pass or update. Only what lies between
// two updates of the optimiser that steps most often counts, since the window of a recording may begin in the midst of
// an accumulation. Linear in the slices.
#include "analyses/rows/backward_exchange.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::backward_exchange_analysis {
namespace {

enum class Kind : uint8_t { kOther, kPass, kExchange, kUpdate };

Kind KindOf(std::string_view name) {
  if (name == "DistributedDataParallel.forward" || name == "FullyShardedDataParallel.forward") return Kind::kPass;
  if (name.starts_with("Optimizer.step#")) return Kind::kUpdate;
  const bool is_call = name.starts_with("c10d::");
  if (is_call && (name.find("allreduce_") != name.npos || name.find("reduce_scatter") != name.npos))
    return Kind::kExchange;
  return Kind::kOther;
}

struct Mark {
  Kind kind;
  uint32_t slice;
};

// The marks of a trace in the order of time; of nested passes the outermost.
std::vector<Mark> MarksOf(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  std::vector<Kind> kinds(trace.strings.size());
  for (size_t id = 0; id < kinds.size(); ++id) kinds[id] = KindOf(trace.strings[static_cast<StringId>(id)]);
  std::map<StringId, size_t> updates;
  for (uint32_t row = 0; row < slices.size(); ++row)
    if (kinds[static_cast<uint32_t>(slices.name[row])] == Kind::kUpdate) ++updates[slices.name[row]];
  const auto most = std::ranges::max_element(updates, {}, [](const auto& entry) { return entry.second; });
  std::vector<Mark> marks;
  int64_t pass_end_ns = INT64_MIN;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const Kind kind = kinds[static_cast<uint32_t>(slices.name[row])];
    if (kind == Kind::kOther || (kind == Kind::kUpdate && slices.name[row] != most->first)) continue;
    if (kind == Kind::kPass && slices.ts_ns[row] < pass_end_ns) continue;
    if (kind == Kind::kPass) pass_end_ns = slices.ts_ns[row] + slices.dur_ns[row];
    marks.push_back({kind, row});
  }
  return marks;
}

struct Counts {
  int64_t updates = 0, passes = 0, exchanging = 0, exchanges = 0;
  uint32_t first = kNoRowValue;
};

Counts CountBetweenUpdates(const std::vector<Mark>& marks) {
  Counts counts, open;
  bool is_after_update = false, has_exchanged = true;
  for (const Mark& mark : marks) {
    if (mark.kind == Kind::kUpdate) {
      if (is_after_update && open.passes > 0) {
        counts.updates += 1, counts.passes += open.passes, counts.exchanging += open.exchanging;
        counts.exchanges += open.exchanges, counts.first = std::min(counts.first, open.first);
      }
      is_after_update = true, has_exchanged = true, open = {};
    } else if (mark.kind == Kind::kPass) {
      open.passes += 1, open.first = std::min(open.first, mark.slice), has_exchanged = false;
    } else if (open.passes > 0) {
      open.exchanging += has_exchanged ? 0 : 1, open.exchanges += 1, has_exchanged = true;
    }
  }
  return counts;
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<BackwardExchangeRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Counts counts = CountBetweenUpdates(MarksOf(timeline.trace()));
    if (counts.updates == 0) continue;
    auto row = table.Row(*timeline.of);
    row.Set("updates", counts.updates).Set("passes", counts.passes).Set("exchanging", counts.exchanging);
    row.Set("exchanges", counts.exchanges).Set("slice_id", timeline.of->Id(SliceId{counts.first}));
  }
  return table;
}

}  // namespace

ANALYSIS(backward_exchange) = AnalysisOf<BackwardExchangeRows>({.run = Compute});

}  // namespace gapless::internal::backward_exchange_analysis
