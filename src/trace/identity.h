// SPDX-License-Identifier: Apache-2.0
// Finds whose recording a trace is, as far as anything says so, and how two recordings relate.
//
// Recorders say little: a rank only where a job is distributed, often no host, and a process number that is 1 in every
// container. So each part may be unknown, and what is not known is never taken to be equal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "trace/trace.h"

namespace gapless::internal {

// An Identity is what is known of the process, the job and the time of a recording. Its texts live in the trace.
struct Identity {
  std::string_view host{};      // recorded, or from a file name "host_pid.time.pt.trace.json"; empty: not known
  std::string_view path{};      // path of the file
  std::string_view profiler{};  // format of the recording
  std::string_view job_role{};  // its role in a job of several programs (trace/job_role.h); empty: nobody says one
  int64_t pid = kAbsent, rank = kAbsent, world_size = kAbsent;
  int64_t start_ns = 0, end_ns = 0;  // on the wall clock, else on the recorder's own
  bool wall_clock = false;
  bool has_rows = false;         // the process did something: calls or operations of a device
  bool uses_device = false;      // operations of a device
  bool says_rank = false;        // the rank is the framework's own word, not inherited from a parent process
  const Trace* trace = nullptr;  // to compare what was recorded; null: nothing to compare

  std::string_view folder() const;
};
Identity IdentityOf(const Trace& trace);

// Returns the facts that tell a recording from all others; a recording and its summary have the same.
inline auto IdentifyingFactsOf(const Trace& trace) {
  const TraceInfo& info = trace.info;
  const size_t name = info.path.find_last_of('/') + 1;  // 0 if there is no folder
  return std::tuple(info.format, info.pid, info.origin_ns, info.start_unix_ns, info.dur_ns, info.event_count,
                    info.pid == kAbsent ? info.path.substr(name) : std::string());
}

// Recordings of the ranks of one job begin within this, where the time is known.
inline constexpr int64_t kFarApartNs = int64_t{3600} * 1'000'000'000;

// A Relation is how two recordings relate. The first three may stand in one report, side by side.
enum class Relation : uint8_t {
  kSameStretch,  // one process at one time: two profilers, or a copy of the file; to be counted once
  kSameProcess,  // one process, one stretch after the other
  kSameJob,      // two processes of one job: ranks, or a rank and the processes that it started
  kRankClash,    // two processes that both say to be the same rank, at the same time or without a common clock
  kOtherJob,     // jobs of different sizes
  kOtherTime,    // the program at another time; or nothing says that they belong together
  kBeside        // a process of the job that only calls models, beside one that trains (decided in trace/run.cc)
};
Relation Relate(const Identity& a, const Identity& b);  // never kBeside

inline bool IsOneProcess(Relation relation) { return relation <= Relation::kSameProcess; }
inline bool GoTogether(Relation relation) { return relation <= Relation::kSameJob; }

// Returns true if `a` comes before `b` where numbers count as numbers: "worker2" before "worker10".
bool NaturallyBefore(std::string_view a, std::string_view b);

}  // namespace gapless::internal
