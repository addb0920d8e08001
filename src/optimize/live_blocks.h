// SPDX-License-Identifier: Apache-2.0
// A fix that can be switched between two steps is tried inside one process: blocks of steps with and without it, in
// pairs whose order is drawn by lot. Both blocks of a pair see the same machine at nearly the same time, the same
// memory layout and the same compiled code, so far fewer steps tell more than pairs of processes do.
//
// The blocks are ordered ahead through the control block (docs/agent_protocol.md), each at a step that is known before;
// where a block really began says the agent's answer. The first `settle` steps of a block are left out: what was
// computed or fetched ahead belongs to the other state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collect/launch.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

struct BlockPlan {
  std::string fix{};  // "gc_freeze", "fused_optimizer=foreach"
  size_t warmup = 10, block_steps = 5, settle = 1;
  size_t most_pairs = 60;
  uint64_t seed = 0;
};

class BlockDriver : public Watcher {
 public:
  // Adds its pairs to `sequence`, which may hold some of other processes.
  BlockDriver(const BlockPlan& plan, PairSequence& sequence);

  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override;
  void OnTick(RingKeeper& rings, ControlBlock& control, std::vector<RunEvent>& events) override;

  size_t pairs() const { return pairs_; }                  // of this process
  bool IsDone() const;                                     // decided, hopeless, or most_pairs
  const std::string& refusal() const { return refusal_; }  // why the fix cannot be switched; empty: it can

 private:
  struct Block {
    bool on = false;
    int64_t begins = 0;                  // step
    std::optional<uint64_t> sequence{};  // of the command that begins it; none: the state was the same before
  };
  void Plan();
  void Post(ControlBlock& control);
  void Answered(const wire::RingRecord& record, const AgentProcess& process);
  void Count();
  std::optional<double> MeanOf(size_t block) const;

  BlockPlan plan_;
  PairSequence& sequence_;
  std::mt19937_64 coin_;
  std::vector<Block> blocks_{};
  std::map<uint64_t, size_t> posted_{};  // block by the number of its command
  size_t next_ = 0, outstanding_ = 0;    // block to post; commands without an answer
  int64_t pid_ = 0;                      // of the process whose steps count
  std::map<int64_t, int64_t> step_ns_{};
  size_t counted_ = 0;  // blocks
  size_t pairs_ = 0;
  std::string refusal_{};
};

}  // namespace gapless::internal
