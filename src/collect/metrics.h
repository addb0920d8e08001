// SPDX-License-Identifier: Apache-2.0
// The metrics of a running job for Prometheus (docs/monitoring.md has the list): counts since its start, from the
// agents' records.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/flight_recorder.h"
#include "collect/late_rank.h"
#include "collect/launch.h"
#include "collect/telemetry_tail.h"

namespace gapless::internal {

// Records come in from the launcher's thread; Text() may be called from any.
class RunMetrics : public Watcher {
 public:
  // Upper edges of the histogram of step durations, seconds.
  static constexpr std::array<double, 16> kEdges = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                    0.5,   1,      2.5,   5,    10,    25,   60,  300};

  // `flight`: whose slow steps are shown; may be null.
  explicit RunMetrics(const FlightRecorder* flight) : flight_(flight) {}

  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override;
  void OnTick(RingKeeper& rings, ControlBlock& control, std::vector<RunEvent>& events) override;

  // The text form of Prometheus, version 0.0.4.
  std::string Text() const;

 private:
  // Counts of one process since its start. Sums saturate: records are not trusted.
  struct Process {
    std::string folder;
    bool trains = true, alive = true;
    int64_t agent_cost_ns = 0, heartbeat_unix_ns = 0;
    uint64_t steps = 0, skipped = 0, recordings = 0, compilations = 0, samples = 0, items = 0, failures = 0;
    int64_t step_ns = 0, wait_ns = 0, gc_ns = 0, save_ns = 0, compile_ns = 0, items_ns = 0;
    std::array<uint64_t, kEdges.size()> below{};
    double loss = 0, scale = 0;
    bool has_loss = false, has_scale = false, has_samples = false;
    std::map<int32_t, std::pair<double, double>> memory;  // device: allocated, reserved
  };

  // A metric of each process that has a value; NaN: it has none.
  struct Family {
    std::string_view name, type, help;
    double (*value)(const Process& process);
  };
  static const Family kFamilies[];

  static std::string LabelsOf(int64_t pid, const Process& process);
  void AppendStepDurations(std::string& out) const;
  void AppendMemory(std::string& out) const;
  void LookForLate(std::vector<RunEvent>& events);
  void AppendLate(std::string& out) const;
  // Appends the newest values of each GPU, as telemetry has them.
  void AppendGpus(std::string& out) const;

  const FlightRecorder* flight_;
  mutable std::mutex mutex_;
  std::map<int64_t, Process> processes_;  // by pid
  size_t slow_steps_ = 0;
  LateRank late_;
  std::vector<LateRank::Finding> findings_;
  std::set<std::pair<int64_t, LateSign>> named_;  // ranks that are in the manifest already
  int64_t looked_steps_ = 0, taken_steps_ = 0;    // of all ranks: at the last look, and until now
  TelemetryTail telemetry_;
};

}  // namespace gapless::internal
