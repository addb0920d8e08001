// SPDX-License-Identifier: Apache-2.0
// Implements the block driver: plans pairs of blocks, posts their switches ahead, and assigns step times to
// blocks.
//
// Switches are posted before their step comes, up to the slots of the control block, because a command that
// arrives late costs its block. The agent answers with the step at which it really switched, and the block begins
// there. Steps are kept only until the pair they belong to has been counted, so memory does not grow with the run.
// A fix that cannot be switched off spoils all later blocks: the driver is then done.
#include "optimize/live_blocks.h"

#include <algorithm>
#include <cmath>

#include "optimize/contest.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxOutstanding = wire::kControlSlots - 4;  // leaves slots for other programs that post commands
constexpr double kMachineWindowS = 3;                        // about what a run of its own measures
constexpr size_t kMinMachineBlocks = 3;

}  // namespace

size_t BlockArm::BlockSteps(size_t at_least) const {
  const size_t round = std::max<size_t>(shape.round, 1), counted = std::max(at_least, 2 * shape.settle) - shape.settle;
  return shape.settle + (counted + round - 1) / round * round;
}

BlockDriver::BlockDriver(const BlockPlan& plan, std::vector<BlockArm>& arms)
    : plan_(plan), arms_(arms), coin_(plan.seed) {
  for (BlockArm& arm : arms_) {
    arm.pairs = 0;
    is_over_.push_back(IsOver(arm));
  }
}

// Returns true if the arm needs no more pairs; the same stopping rule as for pairs of processes.
bool BlockDriver::IsOver(const BlockArm& arm) const {
  return !arm.refusal.empty() || arm.pairs >= plan_.max_pairs || EndingOf(arm.sequence, plan_.max_pairs).has_value();
}

bool BlockDriver::IsDone() const {
  return stuck_ || (plan_.limit_s > 0 && seconds_ >= plan_.limit_s) ||
         std::ranges::all_of(is_over_, [](bool over) { return over; });
}

// Plans one more pair. The order of the arms within a round is drawn, too.
void BlockDriver::Plan() {
  if (round_.empty()) {
    for (size_t arm = 0; arm < arms_.size(); ++arm)
      if (!is_over_[arm]) round_.push_back(arm);
    if (round_.empty()) round_.push_back(0);
    std::ranges::shuffle(round_, coin_);
  }
  const size_t arm = round_.back();
  round_.pop_back();
  const bool on_first = (coin_() >> 63) != 0;
  for (const bool is_on : {on_first, !on_first}) {
    const int64_t begins = blocks_.empty() ? static_cast<int64_t>(plan_.warmup) : blocks_.back().ends;
    const auto steps = static_cast<int64_t>(arms_[arm].BlockSteps(plan_.block_steps));
    blocks_.push_back({.of = arm, .is_on = is_on, .begins = begins, .ends = begins + steps});
  }
}

// Returns the commands between the block before and this one; none if the same fixes are on in both. Off comes
// before on.
std::vector<BlockDriver::Command> BlockDriver::SwitchesTo(size_t block) const {
  const std::optional<size_t> before = block > 0 ? blocks_[block - 1].Arm() : std::nullopt, now = blocks_[block].Arm();
  std::vector<Command> switches;
  if (before == now) return switches;
  if (before) switches.push_back({block, *before, false});
  if (now) switches.push_back({block, *now, true});
  return switches;
}

// Posts switches until enough are outstanding or the control block is full; goes on at the same command next time.
void BlockDriver::Post(ControlBlock& control) {
  while (posted_.size() < kMaxOutstanding) {
    if (next_ == blocks_.size()) Plan();
    const std::vector<Command> switches = SwitchesTo(next_);
    for (; switches_ < switches.size(); ++switches_) {
      const Command& command = switches[switches_];
      const std::string_view item = arms_[command.arm].fix;
      const auto sequence = command.on ? control.Post(wire::AgentCommand::kFixOn, 0, item, blocks_[next_].begins)
                                       : control.Post(wire::AgentCommand::kFixOff, 0, item.substr(0, item.find('=')),
                                                      blocks_[next_].begins);
      if (!sequence) return;
      posted_.insert({*sequence, command});
    }
    switches_ = 0;
    ++next_;
    const bool far_ahead = next_ > counted_ + 2 * kMaxOutstanding;  // two blocks in a row may need no command
    if (far_ahead) return;
  }
}

void BlockDriver::OnTick(RingKeeper& /*rings*/, ControlBlock& control, std::vector<RunEvent>& /*events*/) {
  if (!IsDone()) Post(control);
}

// Takes the agent's answer to a command. A refusal ends the arm, with the agent's words as the reason.
void BlockDriver::Answered(const wire::RingRecord& record, const AgentProcess& process) {
  const auto found = posted_.find(static_cast<uint64_t>(record.a));
  if (found == posted_.end()) return;
  const Command command = found->second;
  posted_.erase(found);
  const auto answer = static_cast<wire::Answer>(record.value);
  BlockArm& arm = arms_[command.arm];
  if (answer == wire::Answer::kDone || answer == wire::Answer::kLate) {
    blocks_[command.block].begins = std::max(blocks_[command.block].begins, record.b);
  } else if (arm.refusal.empty()) {
    arm.refusal = process.texts[wire::WholeOf(record.x)];
    if (arm.refusal.empty()) arm.refusal = "it cannot be switched in this program";
    arm.does_not_apply = command.on && answer == wire::Answer::kDoesNotApply;
    stuck_ = stuck_ || !command.on;
    is_over_[command.arm] = true;
  }
}

// The mean step of a block that is over, ns; absent if no step of it was seen, or its command came too late.
std::optional<double> BlockDriver::MeanOf(size_t block) const {
  const Block& of = blocks_[block];
  const int64_t first = of.begins + static_cast<int64_t>(arms_[of.of].shape.settle), last = of.ends;
  double sum = 0;
  size_t steps = 0;
  for (auto step = step_ns_.lower_bound(first); step != step_ns_.end() && step->first < last; ++step, ++steps)
    sum += static_cast<double>(step->second);
  if (steps == 0 || sum <= 0) return std::nullopt;
  return sum / static_cast<double>(steps);
}

// Collects the blocks without a fix into one median per few seconds, for MachineWatch. One block may have an
// evaluation.
void BlockDriver::CountOff(double mean_ns) {
  off_window_ns_.push_back(mean_ns);
  if (seconds_ - off_since_s_ < kMachineWindowS || off_window_ns_.size() < kMinMachineBlocks) return;
  off_ms_.push_back(*Median(off_window_ns_) / 1e6);
  off_window_ns_.clear();
  off_since_s_ = seconds_;
}

// Counts each pair whose last step has been reported, in their order. A pair of which one block has no counted
// step is dropped.
void BlockDriver::Count() {
  while (counted_ + 2 <= next_) {
    const int64_t ends = blocks_[counted_ + 1].ends;
    if (step_ns_.empty() || step_ns_.rbegin()->first + 1 < ends) return;
    const auto first = MeanOf(counted_), second = MeanOf(counted_ + 1);
    const bool on_first = blocks_[counted_].is_on;
    const size_t number = blocks_[counted_].of;
    if (const auto& off = on_first ? second : first) CountOff(*off);
    if (first && second && !is_over_[number]) {
      arms_[number].sequence.Add(std::log(on_first ? *first / *second : *second / *first));
      ++arms_[number].pairs;
      is_over_[number] = IsOver(arms_[number]);
    }
    counted_ += 2;
    step_ns_.erase(step_ns_.begin(), step_ns_.lower_bound(ends));
  }
}

std::optional<size_t> BlockDriver::ArmAt(int64_t step) {
  const auto warmup = static_cast<int64_t>(plan_.warmup);
  if (step < warmup) return std::nullopt;
  while (blocks_.empty() || blocks_.back().ends <= step) Plan();
  next_ = blocks_.size();
  return std::ranges::upper_bound(blocks_, step, {}, &Block::ends)->Arm();
}

void BlockDriver::AddStep(int64_t step, int64_t dur_ns) {
  step_ns_[step] = dur_ns;
  seconds_ += static_cast<double>(dur_ns) / 1e9;
  if (!IsDone()) Count();
}

// Takes steps and answers of one process: the first that trains, on rank 0 or without ranks.
void BlockDriver::OnRecord(AgentProcess& process, const wire::RingRecord& record) {
  const wire::RingHeader& header = process.ring.header();
  if (header.role != wire::AgentRole::kTrains || (pid_ != 0 && header.pid != pid_)) return;
  if (record.kind == wire::RecordKind::kStep) {
    if (header.rank > 0) return;
    pid_ = header.pid;
    AddStep(record.a, record.dur_ns);
  } else if (record.kind == wire::RecordKind::kAck) {
    Answered(record, process);
  }
}

}  // namespace gapless::internal
