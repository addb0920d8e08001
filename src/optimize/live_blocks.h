// SPDX-License-Identifier: Apache-2.0
// Measures fixes that can be switched between two steps inside one process: blocks of steps with and without a fix, in
// pairs in random order. Both blocks of a pair see the same machine at nearly the same time, the same memory layout and
// the same compiled code, so that they need far fewer steps than pairs of processes.
//
// Several fixes, the arms, share a process: a round has one pair of each undecided arm. Each arm has its own pairs, so
// its verdict is as valid as that of an arm measured alone.
//
// The control block (python/gapless/agent/README.md) orders each block ahead, at a known step; the agent answers with
// the step at which the block really began. The first `settle` steps of a block are left out, because work computed or
// fetched ahead belongs to the other state. If workers of a DataLoader change, more steps are left out, until the new
// workers have started and filled their queues; the counted steps are whole rounds of the workers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collect/launch.h"
#include "optimize/fix_item.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

struct BlockPlan {
  size_t warmup = 10, block_steps = 5;  // steps before the first block, steps of a block at least
  size_t max_pairs = 60;                // maximum number of pairs of one arm in this process
  uint64_t seed = 0;
  double limit_s = 0;  // limit of the total step time; 0: no limit
};

struct BlockArm {
  BlockArm(std::string item, const PairOptions& options, BlockShape block_shape = {})
      : fix(std::move(item)), shape(block_shape), sequence(options) {}
  // Returns the steps of one block of this arm: those that settle, then whole rounds, as many steps at least.
  // `at_least` in all.
  size_t BlockSteps(size_t at_least) const;

  std::string fix;              // "gc_freeze", "fused_optimizer=foreach"
  BlockShape shape;             // shape of its blocks and of those without it in a pair
  PairSequence sequence;        // may hold pairs of other processes
  size_t pairs = 0;             // pairs of this process
  bool does_not_apply = false;  // the agent found nothing to change in the program
  std::string refusal{};        // why the fix cannot be switched; empty: it can
};

class BlockDriver : public Watcher {
 public:
  // Adds its pairs to the arms, which outlive it.
  BlockDriver(const BlockPlan& plan, std::vector<BlockArm>& arms);

  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override;
  void OnTick(RingKeeper& rings, ControlBlock& control, std::vector<RunEvent>& events) override;

  bool IsDone() const;  // every arm is clear, hopeless, refused or has its pairs; or the time is over
  // For jobs without an agent: the arm that is on in a step (none: no arm is), and how long the step took.
  std::optional<size_t> ArmAt(int64_t step);
  const std::vector<BlockArm>& arms() const { return arms_; }
  // Returns the median block without any arm, in ms a step, one for every few seconds: is the machine as idle as
  // before?
  const std::vector<double>& off_ms() const { return off_ms_; }
  void AddStep(int64_t step, int64_t dur_ns);

 private:
  struct Block {
    size_t of = 0;       // arm whose pair the block belongs to
    bool is_on = false;  // the fix of that arm
    int64_t begins = 0;  // step; later than planned when its command came late
    int64_t ends = 0;    // step before which it ends
    std::optional<size_t> Arm() const { return is_on ? std::optional(of) : std::nullopt; }
  };
  struct Command {
    size_t block, arm;
    bool on;
  };
  bool IsOver(const BlockArm& arm) const;
  void Plan();
  std::vector<Command> SwitchesTo(size_t block) const;
  void Post(ControlBlock& control);
  void Answered(const wire::RingRecord& record, const AgentProcess& process);
  void Count();
  void CountOff(double mean_ns);
  std::optional<double> MeanOf(size_t block) const;

  BlockPlan plan_;
  std::vector<BlockArm>& arms_;
  std::vector<bool> is_over_{};  // by arm
  std::mt19937_64 coin_;
  std::vector<Block> blocks_{};
  std::vector<size_t> round_{};           // arms whose pair of this round is not planned yet
  std::map<uint64_t, Command> posted_{};  // by the number of the command
  size_t next_ = 0, switches_ = 0;        // block to post; commands posted of it
  int64_t pid_ = 0;                       // id of the process whose steps count
  std::map<int64_t, int64_t> step_ns_{};
  double seconds_ = 0;  // total time of all steps
  size_t counted_ = 0;  // blocks
  std::vector<double> off_ms_{};
  std::vector<double> off_window_ns_{};  // mean steps of blocks without any arm, since the latest of off_ms_
  double off_since_s_ = 0;
  bool stuck_ = false;  // a fix cannot be switched off: the blocks after it say nothing
};

}  // namespace gapless::internal
