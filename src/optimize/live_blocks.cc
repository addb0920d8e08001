// SPDX-License-Identifier: Apache-2.0
#include "optimize/live_blocks.h"

#include <algorithm>
#include <cmath>

#include "optimize/contest.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostOutstanding = wire::kControlSlots - 4;  // the others are for whoever else asks for something

}  // namespace

BlockDriver::BlockDriver(const BlockPlan& plan, PairSequence& sequence)
    : plan_(plan), sequence_(sequence), coin_(plan.seed) {
  plan_.block_steps = std::max(plan_.block_steps, plan_.settle + 1);
}

bool BlockDriver::IsDone() const {
  return !refusal_.empty() || pairs_ >= plan_.most_pairs || WhetherToStop(sequence_, plan_.most_pairs).has_value();
}

// One pair more.
void BlockDriver::Plan() {
  const bool on_first = (coin_() >> 63) != 0;
  for (const bool on : {on_first, !on_first})
    blocks_.push_back({.on = on, .begins = static_cast<int64_t>(plan_.warmup + blocks_.size() * plan_.block_steps)});
}

void BlockDriver::Post(ControlBlock& control) {
  while (outstanding_ < kMostOutstanding && next_ < 2 * plan_.most_pairs) {
    if (next_ == blocks_.size()) Plan();
    Block& block = blocks_[next_];
    const bool before = next_ > 0 && blocks_[next_ - 1].on;
    if (block.on != before) {
      const auto command = block.on ? wire::AgentCommand::kFixOn : wire::AgentCommand::kFixOff;
      const std::string_view name =
          block.on ? std::string_view(plan_.fix) : std::string_view(plan_.fix).substr(0, plan_.fix.find('='));
      const auto sequence = control.Post(command, 0, name, block.begins);
      if (!sequence) return;
      block.sequence = *sequence;
      posted_[*sequence] = next_;
      ++outstanding_;
    }
    ++next_;
  }
}

void BlockDriver::OnTick(RingKeeper& /*rings*/, ControlBlock& control, std::vector<RunEvent>& /*events*/) {
  if (!IsDone()) Post(control);
}

void BlockDriver::Answered(const wire::RingRecord& record, const AgentProcess& process) {
  const auto found = posted_.find(static_cast<uint64_t>(record.a));
  if (found == posted_.end()) return;
  const auto answer = static_cast<wire::Answer>(record.value);
  if (answer == wire::Answer::kDone || answer == wire::Answer::kLate) {
    blocks_[found->second].begins = record.b;
  } else if (refusal_.empty()) {
    refusal_ = process.texts[wire::WholeOf(record.x)];
    if (refusal_.empty()) refusal_ = "it cannot be switched in this program";
  }
  posted_.erase(found);
  outstanding_ -= std::min<size_t>(outstanding_, 1);
}

// The mean step of a block that is over, ns.
std::optional<double> BlockDriver::MeanOf(size_t block) const {
  const int64_t first = blocks_[block].begins + static_cast<int64_t>(plan_.settle),
                last = static_cast<int64_t>(plan_.warmup + (block + 1) * plan_.block_steps);
  double sum = 0;
  size_t steps = 0;
  for (auto step = step_ns_.lower_bound(first); step != step_ns_.end() && step->first < last; ++step, ++steps)
    sum += static_cast<double>(step->second);
  if (steps == 0 || sum <= 0) return std::nullopt;  // the command came too late for it
  return sum / static_cast<double>(steps);
}

void BlockDriver::Count() {
  while (counted_ + 2 <= next_) {
    const int64_t ends = static_cast<int64_t>(plan_.warmup + (counted_ + 2) * plan_.block_steps);
    if (step_ns_.empty() || step_ns_.rbegin()->first + 1 < ends) return;
    const auto first = MeanOf(counted_), second = MeanOf(counted_ + 1);
    if (first && second) {
      const bool on_first = blocks_[counted_].on;
      sequence_.Add(std::log(on_first ? *first / *second : *second / *first));
      ++pairs_;
    }
    counted_ += 2;
    step_ns_.erase(step_ns_.begin(), step_ns_.lower_bound(ends));
  }
}

void BlockDriver::OnRecord(AgentProcess& process, const wire::RingRecord& record) {
  const wire::RingHeader& header = process.ring.header();
  if (header.role != wire::AgentRole::kTrains || (pid_ != 0 && header.pid != pid_)) return;
  if (record.kind == wire::RecordKind::kStep) {
    if (header.rank > 0) return;
    pid_ = header.pid;
    step_ns_[record.a] = record.dur_ns;
    if (!IsDone()) Count();
  } else if (record.kind == wire::RecordKind::kAck) {
    Answered(record, process);
  }
}

}  // namespace gapless::internal
