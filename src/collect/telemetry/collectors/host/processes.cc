// SPDX-License-Identifier: Apache-2.0
// Samples the run's processes: processor time, memory, faults, bytes and context switches, and the busiest
// threads.
//
// Sums over the run's processes are sums of what each grew by: a process that comes or goes does not look like a
// jump. What a process did before it was first seen, and after it was last seen, is not counted.
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "collect/telemetry/collectors/host/parts.h"
#include "collect/telemetry/proc.h"
#include "collect/telemetry/process_tree.h"

namespace gapless::internal::host {
namespace {

constexpr size_t kTopThreads = 16;  // written at a time
constexpr size_t kMaxThreadSeries =
    256;  // maximum number of thread series in a recording: loaders that start anew each epoch must not fill it
constexpr double kMinUse = 0.005;  // cores; a thread below is asleep

double TicksPerSecond() {
  static const auto kTicks = static_cast<double>(std::max(sysconf(_SC_CLK_TCK), 1L));
  return kTicks;
}
double PageBytes() {
  static const auto kBytes = static_cast<double>(std::max(sysconf(_SC_PAGESIZE), 1L));
  return kBytes;
}

}  // namespace

void ProcessesPart::Growth::Add(int64_t key, int64_t total) {
  const auto was = before_.find(key);
  if (was != before_.end() && total > was->second) grown_ += total - was->second;
  now_[key] = total;
}

double ProcessesPart::Growth::PerSecond(int64_t mono_ns) {
  const double seconds = static_cast<double>(mono_ns - mono_ns_) * 1e-9;
  const bool valid = known_ && seconds > 0;
  const double rate = valid ? static_cast<double>(grown_) / seconds : std::numeric_limits<double>::quiet_NaN();
  before_.swap(now_);
  now_.clear();
  grown_ = 0, mono_ns_ = mono_ns, known_ = true;
  return rate;
}

void ProcessesPart::Sample(const Tick& tick, SampleSink& sink) {
  if (tick.followed.empty()) return;
  if (totals_due_.At(tick.mono_ns)) Totals(tick, sink);
  if (threads_due_.At(tick.mono_ns)) Threads(tick, sink);
  if (switches_due_.At(tick.mono_ns)) Switches(tick, sink);
}

// Only the files that the system lets us read count: /proc/PID/io is open to the same user only.
void ProcessesPart::Totals(const Tick& tick, SampleSink& sink) {
  int64_t processes = 0, threads = 0, pages = 0;
  bool any_io = false;
  for (const int64_t pid : tick.followed) {
    const std::string folder = StrCat(proc_, '/', pid);
    const auto line = ReadSmallFile(folder + "/stat");
    ProcessStat stat;
    if (!line || !ParseProcessStat(*line, stat)) continue;
    ++processes, threads += stat.threads, pages += stat.resident_pages;
    cpu_.Add(pid, stat.cpu_ticks), minor_.Add(pid, stat.minor_faults), major_.Add(pid, stat.major_faults);
    const auto io = ReadSmallFile(folder + "/io");  // readable only by the same user
    if (!io) continue;
    any_io = true;
    read_.Add(pid, NumberAfter(*io, "read_bytes").value_or(0));
    written_.Add(pid, NumberAfter(*io, "write_bytes").value_or(0));
    read_calls_.Add(pid, NumberAfter(*io, "rchar").value_or(0));
  }
  if (processes == 0) return;
  sink.Value("process.count", "processes", static_cast<double>(processes));
  sink.Value("process.threads", "threads", static_cast<double>(threads));
  sink.Value("process.resident", "bytes", static_cast<double>(pages) * PageBytes());
  sink.Value("process.cpu", "cores", cpu_.PerSecond(tick.mono_ns) / TicksPerSecond());
  sink.Value("process.faults.minor", "1/s", minor_.PerSecond(tick.mono_ns));
  sink.Value("process.faults.major", "1/s", major_.PerSecond(tick.mono_ns));
  if (!any_io) return;
  sink.Value("process.disk.read", "bytes/s", read_.PerSecond(tick.mono_ns));
  sink.Value("process.disk.write", "bytes/s", written_.PerSecond(tick.mono_ns));
  sink.Value("process.read", "bytes/s", read_calls_.PerSecond(tick.mono_ns));
}

// The threads that used most since the last look. schedstat counts nanoseconds; where the kernel has none, ticks do.
void ProcessesPart::Threads(const Tick& tick, SampleSink& sink) {
  std::vector<std::tuple<double, int64_t, int64_t>> used;  // cores, pid, tid
  for (const int64_t pid : tick.followed)
    for (const int64_t tid : NumbersIn(StrCat(proc_, '/', pid, "/task"))) {
      const std::string folder = StrCat(proc_, '/', pid, "/task/", tid);
      double seconds = 0;
      const std::string schedstat = ReadLineOf(folder + "/schedstat");
      ProcessStat stat;
      if (const auto words = Words(schedstat); words.size() >= 3 && ToInt(words[0]))
        seconds = static_cast<double>(*ToInt(words[0])) * 1e-9;
      else if (const auto line = ReadSmallFile(folder + "/stat"); line && ParseProcessStat(*line, stat))
        seconds = static_cast<double>(stat.cpu_ticks) / TicksPerSecond();
      else
        continue;
      Thread& thread = threads_[tid];
      thread.seen = tick.mono_ns;
      const double cores = thread.meter.PerSecond(seconds, tick.mono_ns);
      if (cores >= kMinUse) used.emplace_back(cores, pid, tid);
    }
  std::erase_if(threads_, [&](const auto& entry) { return entry.second.seen != tick.mono_ns; });
  const size_t top = std::min(used.size(), kTopThreads);
  std::partial_sort(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(top), used.end(), std::greater<>());
  for (size_t i = 0; i < top; ++i) {
    const auto [cores, pid, tid] = used[i];
    auto named = thread_names_.find(tid);
    if (named == thread_names_.end()) {
      if (thread_names_.size() >= kMaxThreadSeries) continue;
      const std::string comm = ReadLineOf(StrCat(proc_, '/', pid, "/task/", tid, "/comm"));
      named = thread_names_.emplace(tid, StrCat("thread.cpu/", pid, '/', tid, comm.empty() ? "" : " ", comm)).first;
    }
    sink.Value(named->second, "cores", cores);
  }
}

// A process's own status counts its first thread only, so every thread is asked.
void ProcessesPart::Switches(const Tick& tick, SampleSink& sink) {
  bool any = false;
  for (const int64_t pid : tick.followed)
    for (const int64_t tid : NumbersIn(StrCat(proc_, '/', pid, "/task"))) {
      const auto status = ReadSmallFile(StrCat(proc_, '/', pid, "/task/", tid, "/status"));
      if (!status) continue;
      const auto voluntary = NumberAfter(*status, "voluntary_ctxt_switches");
      const auto involuntary = NumberAfter(*status, "nonvoluntary_ctxt_switches");
      if (!voluntary || !involuntary) continue;
      any = true;
      voluntary_.Add(tid, *voluntary), involuntary_.Add(tid, *involuntary);
    }
  if (!any) return;
  sink.Value("process.switches.voluntary", "1/s", voluntary_.PerSecond(tick.mono_ns));
  sink.Value("process.switches.involuntary", "1/s", involuntary_.PerSecond(tick.mono_ns));
}

}  // namespace gapless::internal::host
