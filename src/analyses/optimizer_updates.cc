// SPDX-License-Identifier: Apache-2.0
// Collects the optimiser ranges and the autograd nodes inside each, then computes the spans of each range that are the
// update.
#include "analyses/optimizer_updates.h"

#include <algorithm>

namespace gapless::internal {
namespace {

constexpr std::string_view kStep = "Optimizer.step", kClears = "Optimizer.zero_grad#";
constexpr std::string_view kNode = "autograd::engine::evaluate_function";

std::vector<uint8_t> NamesThatStart(const Trace& trace, std::string_view with) {
  std::vector<uint8_t> do_so(trace.strings.size());
  for (size_t id = 0; id < do_so.size(); ++id) do_so[id] = trace.strings[static_cast<StringId>(id)].starts_with(with);
  return do_so;
}

Interval SpanOf(const SliceTable& slices, size_t row) {
  return {slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]};
}

}  // namespace

OptimizerUpdates::OptimizerUpdates(const Trace& trace) {
  FindRanges(trace);
  if (all_.empty()) return;
  begins_ = trace.slices.ts_ns;
  AddBackward(trace);
  FindOwn(trace);
}

void OptimizerUpdates::FindRanges(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const std::vector<uint8_t> is_step = NamesThatStart(trace, kStep);
  if (std::find(is_step.begin(), is_step.end(), 1) == is_step.end()) return;
  range_of_.assign(slices.size(), kNone);
  for (uint32_t row = 0; row < slices.size(); ++row) {  // parents come before their children
    const SliceId parent = slices.parent[row];
    if (parent.valid()) range_of_[row] = range_of_[parent.value];
    if (range_of_[row] != kNone || is_step[static_cast<uint32_t>(slices.name[row])] == 0) continue;
    range_of_[row] = static_cast<uint32_t>(all_.size());
    all_.push_back({.slice = row, .span = SpanOf(slices, row), .own = {}});
  }
}

// Each node to the range that it lies in by time: the engine runs those of a device on a thread of its own.
void OptimizerUpdates::AddBackward(const Trace& trace) {
  backward_.resize(all_.size());
  const SliceTable& slices = trace.slices;
  const std::vector<uint8_t> is_node = NamesThatStart(trace, kNode);
  for (size_t row = 0; row < slices.size(); ++row) {
    if (is_node[static_cast<uint32_t>(slices.name[row])] == 0) continue;
    const Interval node = SpanOf(slices, row);
    const auto after = std::upper_bound(
        all_.begin(), all_.end(), node.start,
        [](int64_t at, const OptimizerUpdate& optimizer_update) { return at < optimizer_update.span.start; });
    if (after == all_.begin() || std::prev(after)->span.end < node.end) continue;
    AppendMerged(backward_[static_cast<size_t>(std::prev(after) - all_.begin())], node);
  }
}

void OptimizerUpdates::FindOwn(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const std::vector<uint8_t> clears = NamesThatStart(trace, kClears);
  for (size_t range = 0; range < all_.size(); ++range) {
    OptimizerUpdate& update = all_[range];
    const Intervals& nodes = backward_[range];
    if (nodes.empty()) {
      AppendMerged(update.own, update.span);
      continue;
    }
    size_t node = 0;
    for (uint32_t row = update.slice + 1; row < slices.size() && slices.ts_ns[row] < nodes.back().start; ++row) {
      while (nodes[node].end <= slices.ts_ns[row] && nodes[node + 1].start <= slices.ts_ns[row]) ++node;
      const bool between = nodes[node].end <= slices.ts_ns[row];
      if (!between || range_of_[row] != range) continue;
      const bool calls = clears[static_cast<uint32_t>(slices.name[row])] != 0 ||
                         (slices.category[row] == SliceCategory::kOperator && slices.sequence[row] >= 0);
      if (!calls) continue;
      AppendMerged(update.own, {nodes[node].end, slices.ts_ns[row]});
      ++node;  // this gap is finished; nodes.back() begins after `row`
    }
    AppendMerged(update.own, {nodes.back().end, update.span.end});
  }
}

const OptimizerUpdate* OptimizerUpdates::At(uint32_t slice) const {
  if (range_of_.empty() || range_of_[slice] == kNone || all_[range_of_[slice]].slice != slice) return nullptr;
  return &all_[range_of_[slice]];
}

bool OptimizerUpdates::Holds(uint32_t slice) const {
  if (range_of_.empty() || range_of_[slice] == kNone) return false;
  const OptimizerUpdate& update = all_[range_of_[slice]];
  if (update.own.size() == 1 && update.own[0] == update.span) return true;
  const int64_t at = begins_[slice];
  return IsSomeIn(update.own, {at, at + 1});
}

bool OptimizerUpdates::InClosure(uint32_t slice) const {
  return !range_of_.empty() && range_of_[slice] != kNone && At(slice) == nullptr && !Holds(slice);
}

OptimizerUpdates FindOptimizerUpdates(const Trace& trace) { return OptimizerUpdates(trace); }

}  // namespace gapless::internal
