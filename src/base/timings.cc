// SPDX-License-Identifier: Apache-2.0
// Implements the timings: a scope measures wall time and page faults of its thread, and takes those of inner scopes
// out.
#include "base/timings.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "base/portable.h"

namespace gapless::internal {
namespace {

std::atomic<bool> is_enabled = false;
thread_local TimedPart* innermost = nullptr;

struct Collected {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Timing> parts;
};

Collected& AllCollected() {
  static Collected collected;
  return collected;
}

}  // namespace

void EnableTimings() { is_enabled = true; }

std::vector<Timing> CollectTimings() {
  std::vector<Timing> timings;
  {
    Collected& collected = AllCollected();
    const std::lock_guard lock(collected.mutex);
    for (const auto& [key, timing] : collected.parts) timings.push_back(timing);
  }
  std::ranges::stable_sort(timings, [](const Timing& a, const Timing& b) { return a.ns > b.ns; });
  return timings;
}

// Minor page faults of the thread count as fresh memory: each gives it one page.
TimedPart::Amount TimedPart::Now() {
  static const int64_t kPageBytes = sysconf(_SC_PAGESIZE);
  rusage usage{};
  getrusage(kUsageOfThread, &usage);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return {.ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
          .fresh_bytes = usage.ru_minflt * kPageBytes};
}

TimedPart::TimedPart(std::string_view part, std::string_view name) : part_(part), name_(name), is_on_(is_enabled) {
  if (!is_on_) return;
  around_ = std::exchange(innermost, this);
  start_ = Now();
}

TimedPart::~TimedPart() {
  if (!is_on_) return;
  innermost = around_;
  const Amount now = Now();
  const Amount taken{.ns = now.ns - start_.ns, .fresh_bytes = now.fresh_bytes - start_.fresh_bytes};
  if (around_ != nullptr) around_->inner_.ns += taken.ns, around_->inner_.fresh_bytes += taken.fresh_bytes;
  if (part_.empty()) return;
  Collected& collected = AllCollected();
  const std::lock_guard lock(collected.mutex);
  const std::pair key{std::string(part_), std::string(name_)};
  Timing& timing = collected.parts.try_emplace(key, Timing{.part = key.first, .name = key.second}).first->second;
  ++timing.calls;
  timing.ns += taken.ns - inner_.ns;
  timing.fresh_bytes += taken.fresh_bytes - inner_.fresh_bytes;
}

}  // namespace gapless::internal
