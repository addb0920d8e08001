// SPDX-License-Identifier: Apache-2.0
// The doors of libgapless_inject.so. The CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls
// InitializeInjection while it starts; NVTX does the same with NVTX_INJECTION64_PATH and InitializeInjectionNvtx2. What
// happens here happens inside somebody's program: nothing is thrown, printed or waited for, and every failure ends in
// "not collected".
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "inject/collector.h"

namespace gapless::internal::inject {
namespace {

std::atomic<Collector*> g_collector{nullptr};
std::atomic<pid_t> g_pid{0};  // pid of the process that was asked to start

void FinishAtExit() {
  if (Collector* const collector = Installed()) collector->Finish();
}

void AfterForkInChild() {
  if (Collector* const collector = Installed()) collector->Abandon();
}

void RegisterOnce() {
  static std::atomic<bool> done{false};  // once for a process and all its children
  if (done.exchange(true)) return;
  (void)pthread_atfork(nullptr, nullptr, AfterForkInChild);
  (void)std::atexit(FinishAtExit);
}

// Runs once per process: a child of fork() that is asked again starts a collector of its own.
void Start() {
  const pid_t pid = getpid();
  if (g_pid.exchange(pid) == pid) return;  // asked again
  const char* reason = nullptr;
  const Decision decision = Decide(reason);
  if (decision == Decision::kOff) return;
  Collector* const collector = Collector::Make();
  if (collector == nullptr) return;
  g_collector.store(collector);
  if (collector->Start(std::getenv("GAPLESS_RUN"), reason)) RegisterOnce();
}

}  // namespace

Collector* Installed() { return g_collector.load(std::memory_order_acquire); }

}  // namespace gapless::internal::inject

extern "C" {

__attribute__((visibility("default"))) int InitializeInjection() {
  gapless::internal::inject::Start();
  return 1;
}

// NVTX ranges reach CUPTI only when NVTX is handed to it. 0: they stay switched off.
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_export_table) {
  using namespace gapless::internal::inject;
  const char* reason = nullptr;
  if (Decide(reason) != Decision::kCollect) return 0;
  static CuptiApi api;
  char why[512];
  if (!OpenCupti(api, why, sizeof why)) return 0;
  using Forward = int (*)(void*);
  const auto forward = reinterpret_cast<Forward>(dlsym(api.library, "InitializeInjectionNvtx2"));
  return forward != nullptr ? forward(get_export_table) : 0;
}

}  // extern "C"
