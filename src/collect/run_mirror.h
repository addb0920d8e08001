// SPDX-License-Identifier: Apache-2.0
// A run inside another: reports of its processes go to the run around it, too, and what that one asks of its
// processes is asked of them. So `gapless bench -- gapless profile -- CMD` measures the steps of CMD.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "collect/inside.h"

namespace gapless::internal {

class RunMirror : public Watcher {
 public:
  explicit RunMirror(RunAround around, uint64_t launcher) : around_(std::move(around)), launcher_(launcher) {}
  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override;
  void OnTick(RingKeeper& rings, ControlBlock& control, std::vector<RunEvent>& events) override;

 private:
  // A ring in the run around, with the records of one of our processes. No file: it could not be made.
  struct Copy {
    Descriptor file{};
    uint64_t written = 0;
  };
  Copy MakeCopy(const AgentProcess& process) const;

  RunAround around_;
  uint64_t launcher_;  // the number of the launcher that started us, in its run
  std::map<const AgentProcess*, Copy> copies_;
  uint64_t passed_on_ = 0;  // commands
};

// Nothing where no run is around us.
std::optional<RunMirror> MirrorOfRunAround();

}  // namespace gapless::internal
