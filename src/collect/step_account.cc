// SPDX-License-Identifier: Apache-2.0
// Adds up the waits of each step and keeps the durations of recent steps for quantiles. Records of garbage
// collection, saving and compiling come before the step they belong to, so they are summed until it. Quantile()
// copies and selects, O(n) for at most 1000 durations.
#include "collect/step_account.h"

#include <algorithm>

#include "base/order_statistics.h"

namespace gapless::internal {

// The wait for the batch is part of the step's record itself; negative values are not known.
bool StepAccount::Add(const wire::RingRecord& record) {
  switch (record.kind) {
    case wire::RecordKind::kGc: open_.gc_ns = wire::SumOf(open_.gc_ns, record.dur_ns); return false;
    case wire::RecordKind::kSave:
      if ((record.flags & wire::kInThread) == 0) open_.save_ns = wire::SumOf(open_.save_ns, record.dur_ns);
      return false;
    case wire::RecordKind::kCompile: open_.compile_ns = wire::SumOf(open_.compile_ns, record.dur_ns); return false;
    case wire::RecordKind::kStep: break;
    default: return false;
  }
  open_.step = record.a;
  open_.ts_ns = record.ts_ns;
  open_.dur_ns = record.dur_ns;
  open_.flags = record.flags;
  if (const int64_t wait_ns = wire::WholeOf(record.x); wait_ns > 0) open_.wait_ns = wait_ns;
  last_ = open_;
  open_ = {};
  return true;
}

void StepHistory::Add(int64_t dur_ns) {
  if (durations_.size() < kKept) return durations_.push_back(dur_ns);
  durations_[next_] = dur_ns;
  next_ = (next_ + 1) % kKept;
}

int64_t StepHistory::Quantile(double share) const {
  if (durations_.empty()) return 0;
  std::vector<int64_t> sorted = durations_;
  const auto at = std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())));
  return NthOf(sorted, at);
}

}  // namespace gapless::internal
