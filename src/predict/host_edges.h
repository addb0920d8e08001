// SPDX-License-Identifier: Apache-2.0
// Rules R1, R2, R3, R6, R7 of build.cc: what the instants of host threads wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/device_order.h"
#include "predict/growing_graph.h"

namespace gapless::internal {

class HostEdges {
 public:
  HostEdges(const Trace& trace, const DeviceOrder& order, const GraphRules& rules, GrowingGraph& graph);

  // Adds the edges of a slice that counts, at the graph's last instant. `last_begun`: the operation that began last on
  // any device.
  void AddBegin(uint32_t slice);
  void AddEnd(uint32_t slice, Instant last_begun);
  Instant last() const { return newest_.Any(); }  // last instant of any thread

 private:
  struct Thread {
    Instant last = kNoInstant;
    int32_t own_work_open = 0;  // operators at work
    // Slices, the innermost last. One that ends before another that began later stays until that one has ended, too.
    std::vector<uint32_t> open{};
  };
  void GoOn(uint32_t thread, EdgeKind kind, uint32_t owner);
  Instant LastElsewhere(uint32_t thread, int64_t since_ns) const;
  bool WaitsForOperation(uint32_t slice, Instant before);
  bool FeedsOperation(uint32_t slice, Instant before);
  bool WaitsForRoom(uint32_t slice, Instant before, Instant last_begun);

  const Trace& trace_;
  const DeviceOrder& order_;
  GraphRules rules_;
  GrowingGraph& graph_;
  std::vector<uint8_t> is_own_work_;  // by slice
  std::vector<Thread> threads_;
  NewestOfTwo<uint32_t> newest_{};  // last event of any thread
};

}  // namespace gapless::internal
