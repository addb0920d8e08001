// SPDX-License-Identifier: Apache-2.0
// Saves what the agents of a run report before their rings come round: agent-<pid>.ring is copied on, record by record,
// to agent-<pid>.events beside it. What is not saved when the launcher dies is still in the ring, and readers take
// both.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collect/ring.h"

namespace gapless::internal {

// What is known of one process of the run.
struct AgentProcess {
  std::string folder;  // "main", "rank3"
  RingReader ring;
  Descriptor events{};  // none: only watched
  RingTexts texts{};
  std::vector<std::string> recordings{};  // files the profiler wrote, as the agent named them
  std::vector<std::string> messages{};    // warnings and errors
  int64_t last_step_ns = 0;               // duration of the last step; 0: none yet
  bool ended = false;
};

class RingKeeper {
 public:
  using OnRecord = std::function<void(AgentProcess&, const wire::RingRecord&)>;

  // `save`: false only looks, as `gapless trigger` and an attached monitor do.
  RingKeeper(std::string run_folder, bool save) : run_folder_(std::move(run_folder)), save_(save) {}

  // Looks for new rings (at most every half second unless `now`) and takes what is new from all.
  void Drain(bool now = false, const OnRecord& on_record = {});
  // When all is over: a ring whose process has ended and whose records are all saved is removed.
  void Finish();

  std::vector<std::unique_ptr<AgentProcess>>& processes() { return processes_; }
  const std::vector<std::unique_ptr<AgentProcess>>& processes() const { return processes_; }
  // Steps of the process that has done most; 0: none.
  uint64_t steps() const;

 private:
  void Discover();
  void Take(AgentProcess& process, const OnRecord& on_record);

  std::string run_folder_;
  bool save_;
  int64_t discovered_ns_ = 0;
  std::vector<std::unique_ptr<AgentProcess>> processes_;
};

}  // namespace gapless::internal
