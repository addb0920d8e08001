// SPDX-License-Identifier: Apache-2.0
// Finds the parent, depth and self time of every slice, in one sweep in time order with a stack per thread.
//
// A slice's parent is the innermost slice of its thread that contains it. Recorders round start and duration
// separately, so a child may seem to outlive its parent by up to a microsecond; that still counts as contained. If
// two slices overlap by more, the earlier one is popped, and a slice that starts inside both becomes a child of
// the later one. So ends fall from bottom to top of a stack, and every slice is pushed and popped once, however
// hostile the input: O(rows).
//
// A slice's self time is its duration without the time that its children cover; where children overlap, that time
// counts once. Slices deeper than 2000 levels become children of the slice at that depth, so that whoever walks up
// from a slice takes a bounded number of steps.
#include <algorithm>

#include "trace/derive.h"

namespace gapless::internal {
namespace {

constexpr int64_t kRoundingNs = 1000;
constexpr size_t kMaxDepth = 2000;  // Python stops at 1,000 calls in each other

struct Open {
  uint32_t row;
  int64_t end;
  int64_t covered;  // up to here children are taken off self_ns
};

class Nester {
 public:
  Nester(Trace& trace, DeriveCounts& counts)
      : trace_(trace),
        slices_(trace.slices),
        events_(trace.memory_events),
        counts_(counts),
        stacks_(trace.threads.size()),
        self_(slices_.self_ns.mutable_data()),
        depth_(slices_.depth.mutable_data()),
        parent_(slices_.parent.mutable_data()),
        line_(slices_.source_line.same() ? nullptr : slices_.source_line.mutable_data()),
        event_slice_(events_.slice.mutable_data()) {}

  void Run() {
    size_t event = 0;
    for (uint32_t row = 0; row < slices_.size(); ++row) {
      for (; event < events_.size() && events_.ts_ns[event] < slices_.ts_ns[row]; ++event) PlaceEvent(event);
      Place(row);
    }
    for (; event < events_.size(); ++event) PlaceEvent(event);
  }

 private:
  void Place(uint32_t row) {
    auto& stack = stacks_[slices_.thread[row].value];
    const int64_t start = slices_.ts_ns[row], end = start + slices_.dur_ns[row];
    bool overlapped = false;
    while (!stack.empty() && stack.back().end < end) {
      const int64_t top = stack.back().end;
      if (top > start && top + kRoundingNs >= end) break;  // contained, but for rounding
      overlapped |= top > start;
      stack.pop_back();
    }
    while (!stack.empty() && stack.back().end <= start && slices_.dur_ns[row] != 0) stack.pop_back();
    counts_.overlapping_slices += overlapped;
    self_[row] = slices_.dur_ns[row];
    if (stack.empty()) {
      parent_[row] = SliceId();
    } else {
      counts_.deep_slices += stack.size() > kMaxDepth;
      Open& top = stack[std::min(stack.size(), kMaxDepth) - 1];
      const uint32_t parent = top.row;
      parent_[row] = SliceId(parent);
      depth_[row] = static_cast<uint16_t>(std::min(depth_[parent] + 1, 65535));
      const int64_t child_end = std::min(end, top.end);
      self_[parent] -= std::max<int64_t>(0, child_end - std::max(start, top.covered));
      top.covered = std::max(top.covered, child_end);
      if (line_ == nullptr) {
        // All rows have the same line, or none.
      } else if (line_[row] == StringId::kNone)
        line_[row] = line_[parent];
      else if (slices_.category[row] == SliceCategory::kPython)
        CorrectCallers(row);
    }
    stack.push_back({row, end, start});
  }

  // If the recorder's clock is coarse, a call that Python makes may seem to lie inside the operator that it runs:
  // both start together, and the operator's end is rounded up. Such operators have the line of the call.
  void CorrectCallers(uint32_t row) {
    const std::string_view line = trace_.Text(line_[row]);
    if (line.empty() || line.back() < '0' || line.back() > '9') return;  // a function, not the line of a call
    const int64_t start = slices_.ts_ns[row], end = start + slices_.dur_ns[row];
    for (SliceId at = parent_[row]; at.valid() && slices_.category[at.value] == SliceCategory::kOperator;
         at = parent_[at.value]) {
      const int64_t parent_start = slices_.ts_ns[at.value], parent_end = parent_start + slices_.dur_ns[at.value];
      if (start - parent_start > kRoundingNs || parent_end - end > kRoundingNs) return;
      line_[at.value] = line_[row];
    }
  }

  void PlaceEvent(size_t event) {
    auto& stack = stacks_[events_.thread[event].value];
    while (!stack.empty() && stack.back().end < events_.ts_ns[event]) stack.pop_back();
    event_slice_[event] = stack.empty() ? SliceId() : SliceId(stack.back().row);
  }

  const Trace& trace_;
  SliceTable& slices_;
  MemoryEventTable& events_;
  DeriveCounts& counts_;
  std::vector<std::vector<Open>> stacks_;
  int64_t* self_;
  uint16_t* depth_;
  SliceId* parent_;
  StringId* line_;  // null: there is nothing to inherit or correct, since all slices have one line or none
  SliceId* event_slice_;
};

}  // namespace

void NestSlices(Trace& trace, DeriveCounts& counts) { Nester(trace, counts).Run(); }

}  // namespace gapless::internal
