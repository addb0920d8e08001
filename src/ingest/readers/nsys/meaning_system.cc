// SPDX-License-Identifier: Apache-2.0
// Records of the operating system and managed memory: calls of the system's library, times on a processor, page faults.
//
// The scheduler's record is of single moments: a thread was switched in, or out. A time on a processor is from a switch
// in to the next one of the thread, which must be out. Switches of other programs, of which a recording of the whole
// machine is full, are left out. O(n log n) in memory of 32 bytes a switch.
#include <algorithm>
#include <tuple>

#include "ingest/readers/nsys/meaning.h"

namespace gapless::internal::nsys {
namespace {

constexpr int64_t kFurthestNs = int64_t{1} << 60;

}  // namespace

void Meaning::Add(const OsCall& row) {
  Span span;
  if (!TimeOf(row.start, row.end, span)) return;
  Own(row.global_tid);
  shard_.Add(OsCallRow{.name = NameOf(row.name),
                       .pid = row.global_tid == kAbsent ? kAbsent : PidOf(row.global_tid),
                       .tid = row.global_tid == kAbsent ? kAbsent : TidOf(row.global_tid),
                       .ts_ns = span.ts_ns,
                       .dur_ns = span.dur_ns});
}

void Meaning::Add(const Switch& row) {
  ++tally_.events;
  if (row.time == kAbsent || row.global_tid == kAbsent || row.time < -kFurthestNs || row.time > kFurthestNs)
    return void(++tally_.bad_times);
  switches_.push_back(row);
}

void Meaning::Add(const PageFault& row) {
  Span span;
  if (!TimeOf(row.start, row.end == kAbsent ? row.start : row.end, span)) return;
  const bool of_host = row.device == kAbsent32;
  shard_.Add(PageFaultRow{.pid = row.global_pid == kAbsent ? kAbsent : PidOf(row.global_pid),
                          .device = of_host ? kAbsent32 : facts_.DeviceOf(row.device, row.global_pid),
                          .ts_ns = span.ts_ns,
                          .dur_ns = row.end == kAbsent ? kAbsent : span.dur_ns,
                          .count = row.count,
                          .function = of_host ? NameOf(row.function) : StringId::kNone});
}

void Meaning::AddRuns(const std::vector<Meaning*>& all) {
  Meaning& first = *all.front();
  std::vector<Switch> switches;
  std::set<int64_t> own;
  for (Meaning* one : all) {
    switches.insert(switches.end(), one->switches_.begin(), one->switches_.end());
    std::vector<Switch>().swap(one->switches_);
    own.insert(one->processes_.begin(), one->processes_.end());
  }
  if (!own.empty())
    first.tally_.others_switches += static_cast<int64_t>(
        std::erase_if(switches, [&](const Switch& row) { return !own.contains(ProcessOf(row.global_tid)); }));
  const auto key = [](const Switch& row) { return std::tuple(row.global_tid, row.time, row.in, row.cpu); };
  std::ranges::sort(switches, {}, key);
  const Switch* begun = nullptr;
  for (const Switch& row : switches) {
    const bool follows = begun != nullptr && begun->global_tid == row.global_tid;
    first.tally_.open_runs += begun != nullptr && (row.in || !follows) ? 1 : 0;  // it has no end
    first.tally_.open_runs += !row.in && !follows ? 1 : 0;                       // it has no beginning
    if (!row.in && follows)
      first.shard_.Add(ThreadRunRow{.pid = PidOf(row.global_tid),
                                    .tid = TidOf(row.global_tid),
                                    .cpu = begun->cpu,
                                    .ts_ns = begun->time,
                                    .dur_ns = row.time - begun->time});
    begun = row.in ? &row : nullptr;
  }
  first.tally_.open_runs += begun != nullptr ? 1 : 0;
}

}  // namespace gapless::internal::nsys
