// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads. Waiting is by Wait() or through ParallelFor. Work may throw: whoever waits for it gets the
// first exception, after all work has ended.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gapless::internal {

class ThreadPool {
 public:
  // 0 threads: as many as the machine allows this process (affinity respected), or GAPLESS_THREADS; 1024 at most. Where
  // the system refuses threads there are fewer; without any the work is done in Wait().
  explicit ThreadPool(size_t threads = 0);
  ~ThreadPool();  // waits for all work, and drops an exception that nobody waited for
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t size() const { return workers_.size(); }
  void Submit(std::function<void()> work);
  // Waits until everything submitted so far has run, then rethrows the first exception of that work. Not to be called
  // from inside work.
  void Wait();

  // Runs body(i) for i in [0, count) on the pool and waits, as Wait() does. After an exception no further index is
  // begun. Not to be called from inside work.
  void ParallelFor(size_t count, const std::function<void(size_t)>& body);

 private:
  void Loop();
  void RunQueue(std::unique_lock<std::mutex>& lock);     // until it is empty
  void FinishQueue(std::unique_lock<std::mutex>& lock);  // also waits for the work that other threads run

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> queue_;
  size_t running_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;  // the first since the last Wait()
  std::vector<std::thread> workers_;
};

// Calls body(0), … body(count − 1): on the pool, or in turn without one. Not to be called from inside work of the pool.
void ForEach(ThreadPool* pool, size_t count, const std::function<void(size_t)>& body);

// Returns the number of threads of a pool of the default size.
size_t DefaultThreads();

}  // namespace gapless::internal
