// SPDX-License-Identifier: Apache-2.0
// TelemetrySampler: a thread that asks all collectors at a fixed rate and appends what they measured to a file.
//
// A tick that comes late is taken at once, and the ones it made impossible are left out and counted: samples carry the
// time at which they were taken. What is written reaches the file at least four times a second, so a killed process
// loses a quarter of a second of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "collect/files.h"
#include "collect/telemetry/collector.h"
#include "collect/telemetry/process_tree.h"

namespace gapless::internal {

struct TelemetryOptions {
  double hz = 10;        // 10 to 100; others are moved to the nearer end
  int64_t root_pid = 0;  // whose processes are followed; 0: none yet (Follow)
  TelemetrySources sources{};
  std::vector<std::string_view> collectors{};  // names; empty: all there are
};

// TelemetryStats are counts of one sampler since its start.
struct TelemetryStats {
  int64_t ticks = 0, missed_ticks = 0;
  uint64_t values = 0, bytes = 0;
  int64_t cpu_ns = 0;  // processor time of the thread
  int error = 0;       // errno of the write that failed, at which the file ends; 0: none
};

// A TelemetrySampler owns the thread and the file. Start() and Stop() are for one thread; Follow() and stats() for
// any.
class TelemetrySampler {
 public:
  TelemetrySampler() = default;
  ~TelemetrySampler() { Stop(); }
  TelemetrySampler(const TelemetrySampler&) = delete;
  TelemetrySampler& operator=(const TelemetrySampler&) = delete;

  // Starts the thread, which writes to the open file; `path` is for messages. Collectors that find nothing to measure
  // are noted in the file and left out. An error when there is no file or no thread, or the sampler runs already.
  Result<void> Start(Descriptor file, const std::string& path, const TelemetryOptions& options);
  // From now on the processes below `root_pid` are the run's.
  void Follow(int64_t root_pid) { root_pid_.store(root_pid, std::memory_order_relaxed); }
  // Takes a last sample, writes the rest and closes the file. Does nothing when it does not run.
  void Stop();

  // Returns the counts up to now; may be called at any time from any thread.
  TelemetryStats stats() const;

 private:
  void OpenCollectors(const TelemetryOptions& options);
  void Work();
  void TakeSample();
  void WriteOut();

  std::string path_;
  Descriptor file_;
  int64_t interval_ns_ = 0;
  SampleSink sink_;
  std::vector<std::unique_ptr<CollectorSession>> sessions_;
  std::unique_ptr<ProcessTree> tree_;
  Due tree_due_{1'000'000'000};
  std::atomic<int64_t> root_pid_{0};
  int64_t followed_root_ = 0;

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::atomic<int64_t> ticks_{0}, missed_{0}, cpu_ns_{0};
  std::atomic<uint64_t> values_{0}, written_{0};
  std::atomic<int> error_{0};
};

}  // namespace gapless::internal
