// SPDX-License-Identifier: Apache-2.0
// Rules R4, R5, R10, R11 to R14 of build.cc: what the instants of device operations wait for.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "predict/device_order.h"
#include "predict/growing_graph.h"

namespace gapless::internal {

class DeviceEdges {
 public:
  DeviceEdges(const Trace& trace, const ProgramRows& program, const DeviceOrder& order, GrowingGraph& graph);

  // Adds the edges of an operation at the graph's last instant. `last_of_host`: the host's last instant.
  void AddBegin(uint32_t op, Instant last_of_host);
  void AddEnd(uint32_t op);
  Instant last_begun() const { return last_begun_; }

 private:
  int64_t LinkLaunch(uint32_t op);
  int64_t LinkStream(uint32_t op);
  int64_t LinkOverlap(uint32_t running);
  int64_t LinkStreamWaits(uint32_t op);
  void InferWait(uint32_t op, int64_t ready_ns);
  bool WaitedForUnseen(uint32_t op) const;
  bool HasOwnLaunch(uint32_t op) const;
  bool LinkUnexplained(uint32_t op, int64_t ready_ns);
  bool LinkUnseen(uint32_t op);
  void TakeStream(uint32_t op);

  const Trace& trace_;
  const GpuOpTable& ops_;
  const ProgramRows& program_;
  const DeviceOrder& order_;
  const bool host_seen_;
  GrowingGraph& graph_;
  std::map<StreamKey, size_t> next_wait_{};           // into DeviceOrder::stream_waits
  std::map<int32_t, NewestOfTwo<int64_t>> newest_{};  // by device, of its streams
  std::map<int32_t, NewestOfTwo<int64_t>> ended_{};   // by device, the ends of operations by stream
  Instant last_begun_ = kNoInstant;
};

}  // namespace gapless::internal
