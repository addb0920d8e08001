// SPDX-License-Identifier: Apache-2.0
// Implements ThreadPool: one queue under one mutex. If the system refuses threads, the caller of Wait() runs the
// queue. GAPLESS_THREADS sets the default number of threads.
//
// An exception must not leave a thread, or the program ends. The pool keeps the first one and rethrows it in Wait(). A
// parallel loop puts one entry per thread into the queue, and these take indices in turn: however large the loop is,
// the queue stays short, and a loop that cannot have all its entries runs with fewer.
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <system_error>
#include <utility>

#include "base/portable.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxThreads = 1024;

}  // namespace

size_t DefaultThreads() {
  if (const char* given = std::getenv("GAPLESS_THREADS")) {
    const long n = std::strtol(given, nullptr, 10);
    if (n > 0 && n <= static_cast<long>(kMaxThreads)) return static_cast<size_t>(n);
  }
  if (const int allowed = AllowedProcessors(); allowed > 0) return static_cast<size_t>(allowed);
  return std::max(1U, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(size_t threads) {
  const size_t n = threads == 0 ? DefaultThreads() : std::min(threads, kMaxThreads);
  try {
    workers_.reserve(n);
    while (workers_.size() < n) workers_.emplace_back([this] { Loop(); });
  } catch (const std::system_error&) {  // the system refuses more threads
  } catch (const std::bad_alloc&) {     // no memory for the state of another thread
  }
}

ThreadPool::~ThreadPool() {
  {
    std::unique_lock lock(mutex_);
    FinishQueue(lock);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::Submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void ThreadPool::Wait() {
  std::unique_lock lock(mutex_);
  FinishQueue(lock);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
}

void ThreadPool::FinishQueue(std::unique_lock<std::mutex>& lock) {
  if (workers_.empty()) RunQueue(lock);
  idle_.wait(lock, [this] { return queue_.empty() && running_ == 0; });
}

void ThreadPool::ParallelFor(size_t count, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    try {
      for (size_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      next = count;  // the other threads start nothing more
      throw;
    }
  };
  const size_t wanted = std::min(count, std::max<size_t>(1, size()));
  size_t entries = 0;
  try {
    for (; entries < wanted; ++entries) Submit([&take] { take(); });
  } catch (const std::bad_alloc&) {  // the entries that there are take all indices
  }
  if (entries == 0) take();
  Wait();
}

void ForEach(ThreadPool* pool, size_t count, const std::function<void(size_t)>& body) {
  if (pool != nullptr) return pool->ParallelFor(count, body);
  for (size_t i = 0; i < count; ++i) body(i);
}

void ThreadPool::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    RunQueue(lock);
  }
}

// Takes work until the queue is empty. The lock is released while work runs.
void ThreadPool::RunQueue(std::unique_lock<std::mutex>& lock) {
  while (!queue_.empty()) {
    auto work = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    work = nullptr;
    lock.lock();
    --running_;
    if (failure && !failure_) failure_ = std::move(failure);
    if (queue_.empty() && running_ == 0) idle_.notify_all();
  }
}

}  // namespace gapless::internal
