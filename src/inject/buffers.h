// SPDX-License-Identifier: Apache-2.0
// The buffers that CUPTI fills. There are at most kBuffers; when all are full or in CUPTI's hands it gets none, drops
// what it has to say and counts it. So the memory is bounded, and a program that outruns us is slowed by nothing.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace gapless::internal::inject {

struct FullBuffer {
  uint8_t* bytes = nullptr;  // null: none
  size_t valid_bytes = 0;
  void* context = nullptr;  // as CUPTI gave it, for its count of what it dropped
  uint32_t stream = 0;
};

// Every function may be called by any thread.
class Buffers {
 public:
  // CUPTI keeps one buffer for each thread that calls CUDA and one for each context: many small ones serve many
  // threads.
  static constexpr size_t kBuffers = 128;
  static constexpr size_t kBufferBytes = size_t{256} * 1024;

  Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Returns an empty buffer for CUPTI, or null if all are in use.
  uint8_t* TakeEmpty();
  // Queues a buffer that CUPTI has filled, and wakes the worker.
  void AddFull(const FullBuffer& full);

  // For the worker: the oldest full one. Waits until there is one, the deadline (CLOCK_MONOTONIC) passes, or Wake();
  // may return none for no reason.
  FullBuffer TakeFull(const timespec* deadline);
  void GiveBack(uint8_t* bytes);
  void Wake();

  // Returns true if CUPTI holds a buffer; before it has taken its first one there is nothing to flush.
  bool lent();

  // Ends the lending: TakeEmpty() returns null from now on. Buffers that CUPTI holds may still come back.
  void Stop();

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_;
  uint8_t* empty_[kBuffers] = {};
  size_t empties_ = 0, made_ = 0, lent_ = 0;
  FullBuffer full_[kBuffers];
  size_t first_full_ = 0, fulls_ = 0;
  bool woken_ = false, stopped_ = false;
};

}  // namespace gapless::internal::inject
