// SPDX-License-Identifier: Apache-2.0
// The processes of a run: a root and all that descend from it. A process that was once in the tree stays in it until it
// ends, also when its parent has ended (loader workers, daemons). A pid that was given to another process is not taken
// for the old one, since the time of its start differs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// The fields of /proc/<pid>/stat, or of a thread's stat file.
struct ProcessStat {
  std::string name;  // comm, at most 15 bytes
  char state = 0;    // R, S, D, …; Z has ended
  int64_t parent = 0;
  int64_t minor_faults = 0, major_faults = 0;
  int64_t cpu_ticks = 0;  // user and system, in ticks of the kernel
  int64_t threads = 0;
  int64_t start_ticks = 0;
  int64_t resident_pages = 0;
};

// False: this is no such line.
bool ParseProcessStat(std::string_view line, ProcessStat& out);

// A ProcessTree remembers its members from one Refresh() to the next. For one thread.
class ProcessTree {
 public:
  // `proc` is the folder "/proc".
  explicit ProcessTree(std::string proc) : proc_(std::move(proc)) {}

  // Looks again which processes belong to the tree below `root`; 0: none.
  void Refresh(int64_t root);
  std::span<const int64_t> pids() const { return pids_; }        // ascending
  std::span<const int64_t> running() const { return running_; }  // those that have not ended; ascending

 private:
  std::string proc_;
  std::map<int64_t, int64_t> started_;  // start time of each member, in ticks
  std::vector<int64_t> pids_, running_;
};

}  // namespace gapless::internal
