// SPDX-License-Identifier: Apache-2.0
// The collector of one process: CUPTI's callbacks on one side, the file on the other, a thread of ours between them.
//
// CUPTI hands full buffers over on whatever thread it likes; they are only queued there. Our thread encodes them, and
// once a second asks CUPTI for what is complete, reads the clocks and writes what it has, so that SIGKILL takes at most
// the last second. At exit the rest is asked for and the thread ends. A child of fork() inherits memory but no thread:
// there everything of ours stands still.
#pragma once

#include <pthread.h>

#include <atomic>

#include "inject/block.h"
#include "inject/buffers.h"
#include "inject/cupti_api.h"
#include "inject/encoder.h"
#include "inject/stream_file.h"

namespace gapless::internal::inject {

class Collector {
 public:
  // Makes a collector in memory of its own; null without memory. Never destroyed: CUPTI may call at any time.
  static Collector* Make();

  // Opens CUPTI, claims it and starts the thread. When that fails, or `reason` says why not to try, a stream with the
  // reason is written instead. Returns whether it collects.
  bool Start(const char* run_folder, const char* reason);
  // Takes in what CUPTI still has, ends the thread and the stream. Called once, at exit.
  void Finish();

  // Called by CUPTI on any thread: Request() hands out an empty buffer, or null with size 0 if all are in use;
  // Complete() takes a full one.
  void Request(uint8_t** buffer, size_t* size);
  void Complete(const FullBuffer& full);

  // Called in the child after fork(): this copy of the collector does nothing from then on.
  void Abandon() { abandoned_.store(true, std::memory_order_relaxed); }
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
  const CuptiApi& api() const { return api_; }

 private:
  static constexpr int64_t kTickNs = 1'000'000'000;

  Collector() = default;
  bool Claim(char* why, size_t why_size);
  bool EnableKinds(char* why, size_t why_size);
  void DisableKinds();
  void LeaveOutTrifles();
  void DescribeProcess();
  bool StartThread();
  void ReadClocks();
  void GiveUp(const char* why);
  void CountDrops(const FullBuffer& full);
  void Work();
  void Tick();
  void StopAtLimit();
  void Drain();
  static void* RunThread(void* self);

  CuptiApi api_;
  Buffers buffers_;
  StreamFile file_;
  Block block_{file_};
  Encoder encoder_{api_, block_};
  const uint64_t limit_bytes_ = LimitBytes();
  bool at_limit_ = false;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  pthread_t thread_{};
  std::atomic<bool> stopping_{false}, abandoned_{false}, collecting_{false};
};

// The collector of this process; null before it starts. CUPTI's callbacks carry nothing of ours, so it is found here.
Collector* Installed();

}  // namespace gapless::internal::inject
