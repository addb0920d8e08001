// SPDX-License-Identifier: Apache-2.0
// Implements the queue of CUPTI's buffers: memory is mapped on first use, and full buffers wait under one mutex.
// At most 128 buffers of 256 KiB are made, 32 MiB in all. Buffers are used again and never freed.
#include "inject/buffers.h"

#include <ctime>

#include "inject/system_calls.h"

namespace gapless::internal::inject {
namespace {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

Buffers::Buffers() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);  // the wall clock may be set while we wait
  pthread_cond_init(&changed_, &attributes);
  pthread_condattr_destroy(&attributes);
}

// Maps memory outside the lock, since CUPTI calls from the program's own threads.
uint8_t* Buffers::TakeEmpty() {
  {
    const Lock lock(mutex_);
    if (stopped_) return nullptr;
    if (empties_ == 0 && made_ == kBuffers) return nullptr;
    ++lent_;
    if (empties_ > 0) return empty_[--empties_];
    ++made_;
  }
  auto* const bytes = static_cast<uint8_t*>(AllocatePages(kBufferBytes));
  if (bytes == nullptr) {
    const Lock lock(mutex_);
    --made_, --lent_;
  }
  return bytes;
}

void Buffers::AddFull(const FullBuffer& full) {
  const Lock lock(mutex_);
  if (fulls_ < kBuffers && lent_ > 0) {
    --lent_;
    full_[(first_full_ + fulls_) % kBuffers] = full;
    ++fulls_;
  }
  pthread_cond_signal(&changed_);
}

// Waits once and does not loop: the worker asks again after a wake-up without a buffer.
FullBuffer Buffers::TakeFull(const timespec* deadline) {
  const Lock lock(mutex_);
  if (fulls_ == 0 && !woken_ && deadline != nullptr) (void)pthread_cond_timedwait(&changed_, &mutex_, deadline);
  woken_ = false;
  if (fulls_ == 0) return {};
  const FullBuffer full = full_[first_full_];
  first_full_ = (first_full_ + 1) % kBuffers;
  --fulls_;
  return full;
}

void Buffers::GiveBack(uint8_t* bytes) {
  const Lock lock(mutex_);
  if (empties_ < kBuffers) empty_[empties_++] = bytes;
}

void Buffers::Wake() {
  const Lock lock(mutex_);
  woken_ = true;
  pthread_cond_signal(&changed_);
}

bool Buffers::lent() {
  const Lock lock(mutex_);
  return lent_ > 0;
}

void Buffers::Stop() {
  const Lock lock(mutex_);
  stopped_ = true;
}

}  // namespace gapless::internal::inject
