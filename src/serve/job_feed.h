// SPDX-License-Identifier: Apache-2.0
// Follows a job that is under way: reads what its agents and its telemetry write, and keeps the newest of it for
// charts. It changes nothing in the run folder, asks the agents for nothing, and ends with the job.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collect/flight_recorder.h"
#include "collect/metrics.h"
#include "collect/telemetry_tail.h"
#include "serve/documents.h"

namespace gapless::internal {

class JobFeed {
 public:
  // An error: the folder is of no run that is under way, or no thread can be started.
  static Result<std::unique_ptr<JobFeed>> Start(const std::string& folder);
  ~JobFeed();
  JobFeed(const JobFeed&) = delete;
  JobFeed& operator=(const JobFeed&) = delete;

  // Processes, gauges and events; safe from any thread. Of many processes each has fewer steps.
  ServedJob Snapshot() const;

  // Points of a chart that are kept for each process or gauge, and that one answer holds in all.
  static constexpr size_t kKeptPoints = 2000, kMostPoints = 20'000;

 private:
  struct Step {
    int64_t step = 0, at_unix_ms = 0, dur_ns = 0, wait_ns = 0, samples = -1;
  };
  struct Process {
    JobProcess about{};
    bool trains = false;
    std::deque<Step> steps{};
  };
  struct Gauge {
    JobGauge about{};
    std::deque<std::pair<int64_t, double>> points{};
  };

  JobFeed(std::string folder, ControlBlock control);
  void Follow();
  void AddEvents(const std::vector<RunEvent>& events, bool over);
  void Take(const AgentProcess& process, const wire::RingRecord& record);
  void ReadHeaders();
  void ReadGauges();

  std::string folder_;
  ControlBlock control_;
  RingKeeper rings_;
  FlightRecorder slow_{FlightOptions{.steps = 0}};  // only looks: it asks for no recordings
  RunMetrics late_{nullptr};
  TelemetryTail telemetry_{};
  int64_t gauges_read_ms_ = 0;

  mutable std::mutex mutex_;  // of all below
  std::map<int64_t, Process> processes_;
  std::map<std::string, Gauge> gauges_;
  std::vector<JobEvent> events_;
  bool over_ = false;

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace gapless::internal
