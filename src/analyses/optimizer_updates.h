// SPDX-License-Identifier: Apache-2.0
// Separates the update within an optimiser's step from the closure that it runs.
//
// The problem: `optimizer.step(closure)` (LBFGS, and Lightning with every optimiser) computes the loss and the
// gradients inside `Optimizer.step#…`, so that range is most of a step although the update may be a hundredth of it.
//
// The way: a closure shows by its backward pass, whose nodes (`autograd::engine::evaluate_function: …`, on any thread)
// lie within the range. What comes before the first node is the closure's. An optimiser may call it again: from the end
// of one pass, what follows is update until the next call begins, which is where gradients are cleared
// (`Optimizer.zero_grad#…`) or the first operator is run with gradients (it has a sequence number; updates run
// without). Between two nodes where neither is seen, all is the closure's: it is one pass, or two that cannot be
// separated. After the last node all is update, clipping of gradients inside the closure included.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/intervals.h"
#include "trace/trace.h"

namespace gapless::internal {

struct OptimizerUpdate {
  uint32_t slice = 0;  // the range; none lies inside another
  Interval span;
  Intervals own;  // the update; the span where no closure runs
};

class OptimizerUpdates {
 public:
  explicit OptimizerUpdates(const Trace& trace);

  const std::vector<OptimizerUpdate>& all() const { return all_; }  // by start
  const OptimizerUpdate* At(uint32_t slice) const;                  // null: that slice is no such range
  // Is the slice an optimiser's step, or inside one, and begins in its update?
  bool Holds(uint32_t slice) const;
  // Is it inside an optimiser's step, but run by its closure?
  bool InClosure(uint32_t slice) const;

 private:
  void FindRanges(const Trace& trace);
  void AddBackward(const Trace& trace);
  void FindOwn(const Trace& trace);

  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<OptimizerUpdate> all_;
  std::vector<Intervals> backward_;  // by range: nodes of its backward passes
  std::vector<uint32_t> range_of_;   // by slice: index into all_; empty: no range
  Column<int64_t> begins_;           // by slice
};

OptimizerUpdates FindOptimizerUpdates(const Trace& trace);

}  // namespace gapless::internal
