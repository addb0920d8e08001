// SPDX-License-Identifier: Apache-2.0
// Finds all descendants of a process from /proc/PID/stat. Start times distinguish a reused pid. A refresh reads
// one file per process of the machine, builds the children of each process, and walks down from the root and from
// those that were members before.
#include "collect/telemetry/process_tree.h"

#include <algorithm>

#include "base/strings.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal {

// The name stands in parentheses and may hold blanks and parentheses itself: fields are counted from the last ')'.
bool ParseProcessStat(std::string_view line, ProcessStat& out) {
  const size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  const auto fields = Words(line.substr(close + 1));  // fields[0] is number 3 of proc(5): the state
  constexpr size_t kParent = 1, kMinor = 7, kMajor = 9, kUser = 11, kSystem = 12, kThreads = 17, kStart = 19, kRss = 21;
  if (fields.size() <= kRss) return false;
  const auto number = [&](size_t field) { return ToInt(fields[field]).value_or(0); };
  out.name = line.substr(open + 1, close - open - 1);
  out.state = fields[0].empty() ? '\0' : fields[0][0];
  out.parent = number(kParent);
  out.minor_faults = number(kMinor), out.major_faults = number(kMajor);
  out.cpu_ticks = number(kUser) + number(kSystem);
  out.threads = number(kThreads), out.start_ticks = number(kStart), out.resident_pages = number(kRss);
  return true;
}

void ProcessTree::Refresh(int64_t root) {
  pids_.clear();
  running_.clear();
  if (root <= 0) return started_.clear();
  std::map<int64_t, ProcessStat> alive;
  std::multimap<int64_t, int64_t> children;
  for (const int64_t pid : NumbersIn(proc_)) {
    const auto line = ReadSmallFile(StrCat(proc_, '/', pid, "/stat"));
    ProcessStat stat;
    if (!line || !ParseProcessStat(*line, stat)) continue;
    children.emplace(stat.parent, pid);
    alive.emplace(pid, std::move(stat));
  }
  std::map<int64_t, int64_t> members;
  std::vector<int64_t> open;
  const auto join = [&](int64_t pid) {
    const auto at = alive.find(pid);
    if (at != alive.end() && members.emplace(pid, at->second.start_ticks).second) open.push_back(pid);
  };
  join(root);
  for (const auto& [pid, start] : started_) {
    const auto at = alive.find(pid);
    if (at != alive.end() && at->second.start_ticks == start) join(pid);
  }
  while (!open.empty()) {
    const int64_t parent = open.back();
    open.pop_back();
    for (auto [at, end] = children.equal_range(parent); at != end; ++at) join(at->second);
  }
  started_ = std::move(members);
  for (const auto& [pid, start] : started_) {
    pids_.push_back(pid);
    if (const char state = alive.at(pid).state; state != 'Z' && state != 'X') running_.push_back(pid);
  }
}

}  // namespace gapless::internal
