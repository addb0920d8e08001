// SPDX-License-Identifier: Apache-2.0
// Implements the sampling thread: opens the collectors, samples at a fixed rate, and appends to the file. A full
// disk ends the file, not the run.
//
// Collectors are opened and used by one thread, so they need no locks. Values are gathered in memory and written
// every quarter of a second. When a write fails, the file is cut back to its last whole record, and further
// samples are dropped. The thread reports its own processor time into the file.
#include "collect/telemetry/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/strings.h"
#include "collect/start_thread.h"

namespace gapless::internal {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr double kMinHz = 10, kMaxHz = 100;

bool Wanted(const TelemetryOptions& options, std::string_view name) {
  const auto& names = options.collectors;
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// Signals are the launcher's, not this thread's.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Result<void> TelemetrySampler::Start(Descriptor file, const std::string& path, const TelemetryOptions& options) {
  if (thread_.joinable()) return Fail(ErrorCode::kUsage, "the sampler runs already", path_);
  if (!file)
    return Fail(ErrorCode::kEnvironment, StrCat("cannot be written: ", std::strerror(errno)), path,
                "choose another folder with -o");
  file_ = std::move(file);
  path_ = path;
  interval_ns_ = static_cast<int64_t>(1e9 / std::clamp(options.hz, kMinHz, kMaxHz));
  Follow(options.root_pid);
  sink_ = SampleSink();
  sink_.bytes() = TelemetryFileHeader(ClockNs(CLOCK_REALTIME), interval_ns_);
  tree_ = std::make_unique<ProcessTree>(options.sources.proc);
  ticks_ = 0, missed_ = 0, cpu_ns_ = 0, values_ = 0, written_ = 0, error_ = 0, stopping_ = false;
  OpenCollectors(options);
  WriteOut();
  return StartThread(thread_, [this] { Work(); });
}

// A source that does not exist here is noted in the file with the reason.
void TelemetrySampler::OpenCollectors(const TelemetryOptions& options) {
  sessions_.clear();
  for (const Collector* collector : AllCollectors()) {
    if (!Wanted(options, collector->name)) continue;
    auto session = collector->open(options.sources, sink_);
    if (session)
      sessions_.push_back(std::move(*session));
    else
      sink_.Text(StrCat("telemetry.absent.", collector->name), session.error().message);
  }
}

void TelemetrySampler::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  file_ = Descriptor();
  sessions_.clear();
}

// Waits on the condition and not by sleeping, so that Stop() does not wait for a tick. A last sample is taken at
// the end, so that short runs have two.
void TelemetrySampler::Work() {
  BlockSignals();
  Due write_due(kSecond / 4);
  int64_t next_ns = ClockNs(CLOCK_MONOTONIC);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    TakeSample();
    const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
    if (write_due.At(now_ns)) WriteOut();
    next_ns += interval_ns_;
    if (next_ns < now_ns) {
      const int64_t late = (now_ns - next_ns) / interval_ns_ + 1;
      missed_ += late, next_ns += late * interval_ns_;
    }
    lock.lock();
    wake_.wait_for(lock, std::chrono::nanoseconds(next_ns - now_ns), [this] { return stopping_; });
  }
  lock.unlock();
  TakeSample();
  sink_.Text("telemetry.ticks", StrCat(ticks_.load()));
  sink_.Text("telemetry.missed_ticks", StrCat(missed_.load()));
  sink_.Text("telemetry.cpu_ns", StrCat(cpu_ns_.load()));
  sink_.End();
  WriteOut();
}

void TelemetrySampler::TakeSample() {
  const Tick now{.unix_ns = ClockNs(CLOCK_REALTIME), .mono_ns = ClockNs(CLOCK_MONOTONIC)};
  const int64_t root = root_pid_.load(std::memory_order_relaxed);
  if (tree_due_.At(now.mono_ns) || root != followed_root_) tree_->Refresh(root), followed_root_ = root;
  Tick tick = now;
  tick.followed = tree_->pids();
  sink_.BeginSamples(tick.unix_ns);
  for (const auto& session : sessions_) session->Sample(tick, sink_);
  sink_.EndSamples();
  ++ticks_;
  values_ = sink_.values();
  cpu_ns_ = ClockNs(CLOCK_THREAD_CPUTIME_ID);
}

// A disk that is full must not end the run: what cannot be written is dropped, and the file ends there.
void TelemetrySampler::WriteOut() {
  std::string& bytes = sink_.bytes();
  size_t done = 0;
  while (file_ && done < bytes.size()) {
    const ssize_t wrote = write(file_.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error_ = wrote < 0 ? errno : ENOSPC;
      (void)ftruncate(file_.get(), static_cast<off_t>(written_.load()));  // to the last whole record
      file_ = Descriptor();
    }
    done += static_cast<size_t>(std::max<ssize_t>(wrote, 0));
  }
  if (file_) written_ += done;
  bytes.clear();
}

TelemetryStats TelemetrySampler::stats() const {
  return {.ticks = ticks_,
          .missed_ticks = missed_,
          .values = values_,
          .bytes = written_,
          .cpu_ns = cpu_ns_,
          .error = error_};
}

}  // namespace gapless::internal
