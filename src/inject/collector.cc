// SPDX-License-Identifier: Apache-2.0
// Implements the collector of one process: starts CUPTI, encodes full buffers on its own thread, flushes once a
// second.
//
// Encoding happens on our thread only, so the encoder, the block and the file need no locks; the queue of buffers
// is what is shared with the program's threads. The loop waits for a full buffer or the next tick, whichever comes
// first. At exit the program waits at most ten seconds for the thread.
#include "inject/collector.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "inject/system_calls.h"
#include "wire/cupti_stream.h"

namespace gapless::internal::inject {
namespace {

constexpr unsigned kInfo = 0, kLoss = 1;  // severities

int64_t Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

timespec ToTimespec(int64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

}  // namespace

Collector* Collector::Make() {
  void* const memory = AllocatePages(sizeof(Collector));
  return memory == nullptr ? nullptr : new (memory) Collector;
}

bool Collector::Start(const char* run_folder, const char* reason) {
  file_.Prepare(run_folder, RankOfProcess(), Now(CLOCK_REALTIME));
  if (!encoder_.Allocate()) return false;
  DescribeProcess();
  char why[512] = "";
  if (reason != nullptr) return GiveUp(reason), false;
  if (!OpenCupti(api_, why, sizeof why)) return GiveUp(why), false;
  char version[32];
  (void)std::snprintf(version, sizeof version, "%u", api_.version);
  encoder_.AddInfo("cupti_version", version);
  encoder_.AddInfo("cupti_library", api_.path);
  collecting_ = true;
  if (Claim(why, sizeof why) && StartThread()) return true;
  collecting_ = false;
  buffers_.Stop();
  GiveUp(why[0] != '\0' ? why : "no thread could be started to collect with");
  return false;
}

// Writes a stream that holds the reason why nothing is recorded.
void Collector::GiveUp(const char* why) {
  encoder_.AddMessage(kInfo, why);
  block_.Close();
  file_.Close();
}

void Collector::DescribeProcess() {
  char text[4096];
  const size_t size = ReadSmallFile("/proc/self/cmdline", text, sizeof text);
  for (size_t i = 0; i + 1 < size; ++i)
    if (text[i] == '\0') text[i] = ' ';
  if (size > 0) encoder_.AddInfo("command", text);
  const ssize_t length = readlink("/proc/self/exe", text, sizeof text - 1);
  if (length > 0) {
    text[length] = '\0';
    encoder_.AddInfo("executable", text);
  }
}

// In the child after fork() CUPTI gets no buffers from the copy of its parent's collector.
void Collector::Request(uint8_t** buffer, size_t* size) {
  *buffer = abandoned() ? nullptr : buffers_.TakeEmpty();
  *size = *buffer == nullptr ? 0 : Buffers::kBufferBytes;
}

void Collector::Complete(const FullBuffer& full) {
  if (!abandoned() && full.bytes != nullptr) buffers_.AddFull(full);
}

bool Collector::StartThread() {
  // Signals are the program's: none is delivered to our thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, size_t{1024} * 1024);  // demangling takes some
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread_, &attributes, RunThread, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (started) pthread_setname_np(thread_, "gapless-cupti");
  return started;
}

void* Collector::RunThread(void* self) {
  static_cast<Collector*>(self)->Work();
  return nullptr;
}

void Collector::Work() {
  ReadClocks();
  int64_t next_tick = Now(CLOCK_MONOTONIC) + kTickNs;
  while (!stopping_.load(std::memory_order_acquire)) {
    const timespec deadline = ToTimespec(next_tick);
    if (const FullBuffer full = buffers_.TakeFull(&deadline); full.bytes != nullptr) {
      encoder_.AddBuffer(full.bytes, full.valid_bytes);
      CountDrops(full);
      buffers_.GiveBack(full.bytes);
    }
    if (Now(CLOCK_MONOTONIC) < next_tick) continue;
    Tick();
    next_tick = Now(CLOCK_MONOTONIC) + kTickNs;
  }
  Drain();
  ReadClocks();
  encoder_.AddCounts();
  encoder_.AddFinish();
  if (encoder_.worth_writing()) block_.Close();
  file_.Close();
}

// Asks CUPTI for complete records and writes what there is, so that a killed process loses a second at most.
void Collector::Tick() {
  if (buffers_.lent()) (void)api_.cuptiActivityFlushAll(0);  // not before CUPTI has begun: CUDA may still be starting
  Drain();
  CountDrops({});  // drops that belong to no context
  ReadClocks();
  encoder_.AddCounts();
  if (encoder_.worth_writing()) block_.Close();
  if (!at_limit_ && file_.bytes_written() > limit_bytes_) StopAtLimit();
}

// A recording that nobody stops must not fill the disk.
void Collector::StopAtLimit() {
  at_limit_ = true;
  buffers_.Stop();
  DisableKinds();
  char text[128];
  (void)std::snprintf(text, sizeof text, "recording stopped at %llu MB, the limit of GAPLESS_CUPTI_LIMIT_MB",
                      static_cast<unsigned long long>(limit_bytes_ / 1'000'000));
  encoder_.AddMessage(kLoss, text);
  block_.Close();
}

// Encodes all full buffers without waiting for more.
void Collector::Drain() {
  for (;;) {
    const FullBuffer full = buffers_.TakeFull(nullptr);
    if (full.bytes == nullptr) return;
    encoder_.AddBuffer(full.bytes, full.valid_bytes);
    CountDrops(full);
    buffers_.GiveBack(full.bytes);
  }
}

// Asks CUPTI how many records it dropped; it counts per context and stream.
void Collector::CountDrops(const FullBuffer& full) {
  size_t dropped = 0;
  if (api_.cuptiActivityGetNumDroppedRecords != nullptr &&
      api_.cuptiActivityGetNumDroppedRecords(static_cast<CUcontext>(full.context), full.stream, &dropped) ==
          CUPTI_SUCCESS)
    encoder_.AddDropped(dropped, wire::DropCause::kCupti);
}

// Reads both clocks at nearly the same moment: of five tries the one during which the least time passed counts.
void Collector::ReadClocks() {
  if (api_.cuptiGetTimestamp == nullptr) return;
  int64_t best_ns = INT64_MAX, cupti_ns = 0, unix_ns = 0;
  for (int i = 0; i < 5; ++i) {
    uint64_t cupti = 0;
    const int64_t before = Now(CLOCK_REALTIME);
    if (api_.cuptiGetTimestamp(&cupti) != CUPTI_SUCCESS || cupti == 0) return;
    const int64_t passed = Now(CLOCK_REALTIME) - before;
    if (passed < 0 || passed >= best_ns) continue;
    best_ns = passed, cupti_ns = static_cast<int64_t>(cupti), unix_ns = before + passed / 2;
  }
  if (best_ns != INT64_MAX) block_.SetClocks(cupti_ns, unix_ns);
}

// CUPTI hands over what it has during the flush, so the queue is closed only afterwards.
void Collector::Finish() {
  if (!collecting_ || abandoned() || stopping_.load()) return;
  (void)api_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  buffers_.Stop();
  stopping_.store(true, std::memory_order_release);
  buffers_.Wake();
  const timespec deadline = ToTimespec(Now(CLOCK_REALTIME) + 10 * kTickNs);
  (void)pthread_timedjoin_np(thread_, nullptr, &deadline);
}

}  // namespace gapless::internal::inject
