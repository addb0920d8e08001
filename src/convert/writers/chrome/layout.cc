// SPDX-License-Identifier: Apache-2.0
// Assigns process and thread numbers without collisions, and chooses the base of the times. Host processes are
// numbered first for all traces, then devices, whose numbers (0, 1 …) few processes have; what collides gets a
// number from 2,000,000,000 on.
#include "convert/writers/chrome/layout.h"

#include <algorithm>
#include <charconv>

namespace gapless::internal::chrome {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kUnixTimeFrom = kSecondNs * kSecondNs;  // ns: later than 2001
constexpr int64_t kFirstFree = 2'000'000'000;             // numbers of ours: above any real process, within 32 bits

// A Numbers object gives out numbers that nothing else has.
class Numbers {
 public:
  void Reserve(int64_t number) { used_.insert(number); }
  // `wanted` if nothing has it, else one of ours.
  int64_t Take(int64_t wanted) {
    if (used_.insert(wanted).second) return wanted;
    while (!used_.insert(next_).second) ++next_;
    return next_++;
  }
  int64_t TakeFree() { return Take(next_); }

 private:
  std::set<int64_t> used_;
  int64_t next_ = kFirstFree;
};

// Gives each recorded process a number in the file, the recorder's own process first.
void PlaceThreads(const Trace& trace, Numbers& pids, Places& places) {
  std::map<int64_t, int64_t> pid_of;  // recorded → in the file
  if (trace.info.pid != kAbsent) pid_of[trace.info.pid] = pids.Take(trace.info.pid);
  for (size_t row = 0; row < trace.threads.size(); ++row) {
    const int64_t pid = trace.threads.pid[row], tid = trace.threads.tid[row];
    if (!pid_of.contains(pid)) pid_of[pid] = pids.Take(pid);
    places.threads.push_back({pid_of[pid], tid});
    if (pid == trace.info.pid)
      places.pid_of_tid[tid] = pid_of[pid];
    else
      places.pid_of_tid.try_emplace(tid, pid_of[pid]);
  }
}

// Every device and stream that some row names. Waits without either are the host's.
void FindStreams(const Trace& trace, Places& places) {
  const auto take = [&](const auto& table, bool StreamTids::*has) {
    const bool waits = has == &StreamTids::has_waits;
    for (size_t row = 0; row < table.size(); ++row) {
      const int32_t device = table.device[row];
      const int64_t stream = table.stream[row];
      if (row > 0 && device == table.device[row - 1] && stream == table.stream[row - 1]) continue;
      if (waits && device == kAbsent32 && stream == kAbsent) continue;
      places.devices[device].streams[stream].*has = true;
    }
  };
  take(trace.gpu_ops, &StreamTids::has_work);
  take(trace.gpu_annotations, &StreamTids::has_annotations);
  take(trace.syncs, &StreamTids::has_waits);
}

// Gives each device a process, and each stream three threads: its work under the stream's number, its annotations
// and its waits under free numbers.
void PlaceDevices(const Trace& trace, Numbers& pids, Places& places) {
  FindStreams(trace, places);
  for (auto& [device, of] : places.devices) {
    of.pid = device >= 0 ? pids.Take(device) : pids.TakeFree();
    Numbers tids;
    for (auto& [stream, its] : of.streams) {
      if (stream == kAbsent) continue;
      tids.Reserve(stream);
      its.work = stream;
    }
    for (auto& [stream, its] : of.streams) {
      if (stream == kAbsent) its.work = tids.TakeFree();
      its.annotations = tids.TakeFree();
      its.waits = tids.TakeFree();
    }
  }
}

// On the wall clock where that is known, else on the recorder's own: as Run counts.
int64_t StartOf(const Trace& trace) {
  return trace.info.start_unix_ns != kAbsent ? trace.info.start_unix_ns : trace.info.origin_ns;
}

// Returns the base time that the recorder wrote; kAbsent: none, or no time on the wall clock.
int64_t RecordedBase(const Trace& trace) {
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    if (trace.Text(trace.environment.key[row]) != "baseTimeNanoseconds") continue;
    const std::string_view text = trace.Text(trace.environment.value[row]);
    int64_t base = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), base);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && base >= kUnixTimeFrom ? base : kAbsent;
  }
  return kAbsent;
}

// Viewers hold times as doubles, which have no room for the nanoseconds since 1970. So times count from a base: that of
// the recorder, or the last whole second before the first event.
void SetClock(std::span<const RunTrace* const> traces, Layout& layout) {
  int64_t first = INT64_MAX;
  for (const RunTrace* run_trace : traces) first = std::min(first, StartOf(*run_trace->trace));
  const int64_t recorded = traces.size() == 1 ? RecordedBase(*traces[0]->trace) : kAbsent;
  const bool on_wall_clock = !traces.empty() && first >= kUnixTimeFrom;
  if (on_wall_clock && recorded != kAbsent && first - recorded == traces[0]->trace->info.origin_ns)
    layout.base_unix_ns = recorded;
  else if (on_wall_clock)
    layout.base_unix_ns = first - first % kSecondNs;
  const int64_t zero = layout.base_unix_ns == kAbsent ? 0 : layout.base_unix_ns;
  for (size_t i = 0; i < traces.size(); ++i) layout.traces[i].offset_ns = StartOf(*traces[i]->trace) - zero;
}

}  // namespace

// Places all host threads before the first device, so that host processes keep their recorded numbers.
Layout MakeLayout(std::span<const RunTrace* const> traces) {
  Layout layout;
  layout.traces.resize(traces.size());
  Numbers pids;
  for (size_t i = 0; i < traces.size(); ++i) PlaceThreads(*traces[i]->trace, pids, layout.traces[i]);
  for (size_t i = 0; i < traces.size(); ++i) PlaceDevices(*traces[i]->trace, pids, layout.traces[i]);
  for (Places& places : layout.traces) places.own_pid = pids.TakeFree();
  SetClock(traces, layout);
  return layout;
}

}  // namespace gapless::internal::chrome
