// SPDX-License-Identifier: Apache-2.0
// Collects the steps of every process while a command runs, and ends the command when there are enough, or when its
// time is up.
#pragma once

#include <chrono>
#include <map>

#include "collect/launch.h"
#include "collect/telemetry/process_tree.h"
#include "trial/run_once.h"

namespace gapless::internal {

// The reports of one training process.
struct WatchedProcess {
  int64_t rank = -1;
  std::vector<int64_t> step_ns{}, samples{};  // samples: −1 where unknown
  std::map<int64_t, double> losses{};         // by step
  std::optional<double> memory_bytes{};
  std::vector<ModelCall> calls{};
  std::string versions{};
  std::vector<FixReport> fixes{};
  std::optional<int64_t> host_threads{};  // threads of host operators, when an optimiser first stepped
  std::vector<int64_t> loaders{};         // worker processes of each DataLoader that was read from
  size_t stock = 0;                       // batches that workers may have loaded before the first step, at most
  std::string failure{};
  std::vector<std::string> messages{};  // warnings and errors of the agent
  bool out_of_memory = false;
  std::vector<std::string> saved{};
  std::optional<int64_t> parity_events{};  // number of events when the recording of RunRequest::parity ended
  size_t parity_steps = 0;                 // steps that had ended then
  size_t inference_steps = 0;              // steps in which nothing was optimised
  std::vector<int64_t> begin_unix_ns{};    // of each step

  // Returns true if the process called a model and has not trained one.
  bool OnlyInfers() const { return inference_steps == step_ns.size(); }
};

class StepWatch : public Watcher {
 public:
  explicit StepWatch(const RunRequest& request) : request_(request), tree_("/proc") {}

  void OnStart(int64_t pid) override;
  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override;
  void OnTick(RingKeeper& rings, ControlBlock& control, std::vector<RunEvent>& events) override;

  bool stopped() const { return asked_; }
  bool timed_out() const { return timed_out_; }
  // Returns the process whose steps are reported: one that trains before those that only call a model, then the
  // lowest rank, then the most steps. Returns null if no process took a step.
  const WatchedProcess* First() const;
  // Steps of this process that do not count: all of them until its recording for a comparison is complete, and those
  // that the stock of its loader may serve, which was loaded while nobody waited; of a short program fewer of these.
  size_t WarmupOf(const WatchedProcess& process) const;
  std::span<const ModelCall> CallsAfterWarmup(const WatchedProcess& process) const;
  const std::map<int64_t, WatchedProcess>& processes() const { return processes_; }  // by pid

 private:
  using Clock = std::chrono::steady_clock;
  size_t ShortWarmup(const WatchedProcess& process) const;
  bool Enough() const;
  void EndOverdueParity(WatchedProcess& seen) const;
  void Signal(int signal);

  const RunRequest& request_;
  std::map<int64_t, WatchedProcess> processes_;
  ProcessTree tree_;
  int64_t pid_ = 0;
  Clock::time_point started_{}, asked_at_{};
  size_t looked_at_ = 0;  // steps, when `enough` was last asked
  Clock::time_point looked_when_{};

  bool asked_ = false, timed_out_ = false;
};

}  // namespace gapless::internal
