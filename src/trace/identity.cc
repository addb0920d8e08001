// SPDX-License-Identifier: Apache-2.0
// Relates two recordings by what is known of both.
//
// One process: its number and its rank agree, and nothing says otherwise. Number 1 is the first process of every
// container, so it needs the host, or the same folder. One profiler records a process once at a time, so two recordings
// of one time by the same profiler are two processes, unless the same events are in both: a copy, or a part of it.
//
// One job: different ranks of jobs of one size, recorded within an hour of each other where the time is known; or
// processes of which one has no rank, at the same time. Processes of different roles (trace/job_role.h) are of one job
// whatever their ranks are. Clocks that count from the start of different hosts say
// nothing, and then recordings that were given together belong together.
#include "trace/identity.h"

#include <algorithm>
#include <string>

namespace gapless::internal {
namespace {

constexpr int64_t kFirstProcess = 1;  // process number of the first process of a container

bool Known(int64_t value) { return value != kAbsent; }
bool Differ(int64_t a, int64_t b) { return Known(a) && Known(b) && a != b; }
bool HostsDiffer(const Identity& a, const Identity& b) {
  return !a.host.empty() && !b.host.empty() && a.host != b.host;
}

int64_t Overlap(const Identity& a, const Identity& b) {
  return std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns);
}

bool OnWallClock(const Identity& a, const Identity& b) { return a.wall_clock && b.wall_clock; }

// Returns true if the two share more than half of the time of the shorter one, or cover exactly the same time.
bool ShareTime(const Identity& a, const Identity& b) {
  return Overlap(a, b) * 2 > std::min(a.end_ns - a.start_ns, b.end_ns - b.start_ns) ||
         (a.start_ns == b.start_ns && a.end_ns == b.end_ns);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the host of a name as PyTorch's handler for TensorBoard writes it, "host_977.1718000100000.pt.trace.json", if
// its process is `pid`. Other names of this form ("resnet18_0.1718….pt.trace.json") say nothing of a host.
std::string_view HostInName(std::string_view path, int64_t pid) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  const size_t end = name.find(".pt.trace.json");
  if (end == name.npos || !Known(pid)) return {};
  name = name.substr(0, end);
  if (const size_t dot = name.find_last_of('.'); dot != name.npos && std::ranges::all_of(name.substr(dot + 1), IsDigit))
    name = name.substr(0, dot);
  const size_t line = name.find_last_of('_');
  if (line == name.npos || line == 0 || name.substr(line + 1) != std::to_string(pid)) return {};
  return name.substr(0, line);
}

std::string_view HostOf(const Trace& trace) {
  if (!trace.info.host.empty()) return trace.info.host;
  if (const std::string_view host = HostInName(trace.info.path, trace.info.pid); !host.empty()) return host;
  // A file that was renamed still says how the recorder called it.
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == "traceName")
      return HostInName(trace.Text(trace.environment.value[row]), trace.info.pid);
  return {};
}

// Returns true if 32 rows of the table with fewer of them, spread over it, are all in the other one.
template <class Rows>
bool SharesRows(const Trace& few, const Rows& few_rows, const Trace& many, const Rows& many_rows) {
  constexpr size_t kSample = 32;
  const size_t stride = std::max<size_t>(1, few_rows.size() / kSample);
  for (size_t row = 0; row < few_rows.size(); row += stride) {
    const int64_t ts = few_rows.ts_ns[row] + few.info.origin_ns - many.info.origin_ns;
    auto at = std::lower_bound(many_rows.ts_ns.begin(), many_rows.ts_ns.end(), ts);
    for (; at != many_rows.ts_ns.end() && *at == ts; ++at)
      if (many_rows.dur_ns[static_cast<size_t>(at - many_rows.ts_ns.begin())] == few_rows.dur_ns[row]) break;
    if (at == many_rows.ts_ns.end() || *at != ts) return false;
  }
  return true;
}

bool SameEvents(const Trace& a, const Trace& b) {
  const auto shares = [](const Trace& x, const auto& of_x, const Trace& y, const auto& of_y) {
    return of_x.size() <= of_y.size() ? SharesRows(x, of_x, y, of_y) : SharesRows(y, of_y, x, of_x);
  };
  if (a.gpu_ops.size() > 0 && b.gpu_ops.size() > 0) return shares(a, a.gpu_ops, b, b.gpu_ops);
  return a.slices.size() > 0 && b.slices.size() > 0 && shares(a, a.slices, b, b.slices);
}

// Returns true if two names differ in their numbers or in one letter: files of a set, "pod0/x.json" and "pod1/x.json",
// and no copies.
bool NamedAsASet(std::string_view a, std::string_view b) {
  if (a == b) return false;
  size_t different = 0;
  if (a.size() == b.size())
    for (size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
  if (different == 1) return true;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      while (i < a.size() && IsDigit(a[i])) ++i;
      while (j < b.size() && IsDigit(b[j])) ++j;
    } else if (a[i++] != b[j++]) {
      return false;
    }
  }
  return i == a.size() && j == b.size();
}

// Returns true if the two hold the same events. Ranks of a hand-made example may be equal to the nanosecond: where
// nobody says a rank, files of a set count as different processes.
bool AreCopies(const Identity& a, const Identity& b) {
  if (!Known(a.rank) && NamedAsASet(a.path, b.path)) return false;
  return a.trace != nullptr && b.trace != nullptr && SameEvents(*a.trace, *b.trace);
}

bool AreOneProcess(const Identity& a, const Identity& b) {
  if (!Known(a.pid) || a.pid != b.pid || a.rank != b.rank || HostsDiffer(a, b)) return false;
  const bool same_host = !a.host.empty() && a.host == b.host;
  if (a.pid == kFirstProcess && !same_host && a.folder() != b.folder()) return false;
  if (a.profiler == b.profiler && a.has_rows && b.has_rows && ShareTime(a, b)) return AreCopies(a, b);
  return true;
}

// Relates two processes that say the same rank.
Relation RelateSameRank(const Identity& a, const Identity& b) {
  const bool at_once = Overlap(a, b) > 0;
  if (a.says_rank && b.says_rank && (at_once || !OnWallClock(a, b))) return Relation::kRankClash;
  const bool started =
      OnWallClock(a, b) && at_once && Differ(a.pid, b.pid);  // the rank started it: it inherits the number
  return started ? Relation::kSameJob : Relation::kOtherTime;
}

}  // namespace

std::string_view Identity::folder() const {
  const size_t slash = path.find_last_of('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

Identity IdentityOf(const Trace& trace) {
  const TraceInfo& info = trace.info;
  const bool wall = Known(info.start_unix_ns);
  const int64_t start = wall ? info.start_unix_ns : info.origin_ns;
  const bool uses_device = trace.gpu_ops.size() > 0;
  const bool has_life = wall && Known(info.process_start_unix_ns) && Known(info.process_end_unix_ns);
  return {.host = HostOf(trace),
          .path = info.path,
          .profiler = info.format,
          .pid = info.pid,
          .rank = info.rank,
          .world_size = info.world_size,
          .start_ns = has_life ? std::min(start, info.process_start_unix_ns) : start,
          .end_ns = has_life ? std::max(start + info.dur_ns, info.process_end_unix_ns) : start + info.dur_ns,
          .wall_clock = wall,
          .has_rows = uses_device || trace.slices.size() > 0,
          .uses_device = uses_device,
          .says_rank = uses_device && !info.framework.empty() && Known(info.rank),
          .trace = &trace};
}

Relation Relate(const Identity& a, const Identity& b) {
  if (AreOneProcess(a, b)) return ShareTime(a, b) ? Relation::kSameStretch : Relation::kSameProcess;
  // Roles of a job count their ranks on their own, and so do replicas of a server that run at once.
  const bool roles = a.job_role != b.job_role;
  const bool replicas = !roles && !a.job_role.empty() && OnWallClock(a, b) && Overlap(a, b) > 0 && Differ(a.pid, b.pid);
  if (replicas && !Differ(a.world_size, b.world_size)) return Relation::kSameJob;
  if (!roles && Differ(a.world_size, b.world_size)) return Relation::kOtherJob;
  if (roles || Differ(a.rank, b.rank))
    return OnWallClock(a, b) && Overlap(a, b) < -kFarApartNs ? Relation::kOtherTime : Relation::kSameJob;
  if (Known(a.rank) && Known(b.rank)) return RelateSameRank(a, b);
  if (Overlap(a, b) > 0) return Relation::kSameJob;
  const bool clocks_of_two_hosts = !a.wall_clock && !b.wall_clock && HostsDiffer(a, b);
  const bool alike = a.profiler == b.profiler && a.uses_device && b.uses_device;
  return clocks_of_two_hosts && alike ? Relation::kSameJob : Relation::kOtherTime;
}

bool NaturallyBefore(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [](std::string_view text, size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const size_t first = at;
      while (at < text.size() && IsDigit(text[at])) ++at;
      return text.substr(first, at - first);
    };
    const std::string_view x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (i == a.size() && j == b.size()) return a < b;
  return i == a.size();
}

}  // namespace gapless::internal
