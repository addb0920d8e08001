// SPDX-License-Identifier: Apache-2.0
// Options for opening a run. Every option has a default; new members come at the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace gapless {

// The state of reading, for a progress line.
struct LoadProgress {
  std::string_view path;                     // good during the call
  uint64_t bytes_done = 0, bytes_total = 0;  // on disk, over all inputs; total 0: unknown
  size_t inputs_done = 0, inputs_total = 0;  // files and archives; those of ranks are read side by side
};

struct OpenOptions {
  std::vector<int64_t> ranks{};  // only these; empty: all
  bool use_cache = true;         // keep what was read in the user's cache folder, and take it from there
  size_t threads = 0;            // for reading and analysing; 0: as many as the machine allows, or GAPLESS_THREADS
  std::function<void(const LoadProgress&)> progress{};  // now and then while reading, from any thread; must not throw
  std::stop_token cancel{};  // ends opening, and later the run's queries, soon, with ErrorCode::kInterrupted
  std::string history{};     // its tested predictions count, too; empty: the user's own history
  const std::atomic<bool>* cancel_flag = nullptr;  // does the same as `cancel`, from a signal handler; outlives the run
  bool all_steps = false;  // predictions replay every step, not some that stand for all; slower, and needs more memory
  // Bytes of recordings in memory; further ones lie in files. 0: as GAPLESS_MEMORY_BYTES says, or 512 MiB.
  uint64_t memory_bytes = 0;
  std::string source_root{};  // the recorded sources are below this folder; empty: where the recording says
  bool redact = false;        // replace paths, source files, hosts and users by names ("file-3.py", "host-1")
  // "REGEX=NAME": processes in whose path, host, actor or program REGEX is found have the role NAME in a job of several
  // programs (docs/definitions.md). The first that matches counts.
  std::vector<std::string> roles{};
  std::string lead_role{};  // the role that is analysed; empty: the one that trains, else the largest
};

}  // namespace gapless
