// SPDX-License-Identifier: Apache-2.0
// The progress line of a process that is measured step by step, for bench.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/strings.h"
#include "cli/progress.h"
#include "collect/launch.h"

namespace gapless::internal {

// Watches one process after another. A program whose steps are not seen shows nothing here.
class StepProgress : public Watcher {
 public:
  // `line` outlives this.
  StepProgress(ProgressLine& line, uint64_t warmup, uint64_t measured)
      : line_(line), warmup_(warmup), measured_(measured) {}

  void OnStart(int64_t /*pid*/) override { steps_.clear(), most_ = 0; }
  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override {
    if (record.kind == wire::RecordKind::kStep) most_ = std::max(most_, ++steps_[process.ring.header().pid]);
  }
  void OnTick(RingKeeper& /*rings*/, ControlBlock& /*control*/, std::vector<RunEvent>& /*events*/) override {
    if (most_ == 0) return;
    // A wish for precision may take more steps than were asked for: their end is not known then.
    const uint64_t all = warmup_ + measured_;
    line_.Update(most_ <= warmup_ ? "warming up" : "measuring", "", most_, most_ <= all ? all : 0,
                 [](uint64_t steps) { return StrCat(steps, " steps"); });
  }

 private:
  ProgressLine& line_;
  uint64_t warmup_, measured_, most_ = 0;
  std::map<int64_t, uint64_t> steps_{};  // by process
};

}  // namespace gapless::internal
