// SPDX-License-Identifier: Apache-2.0
// From paths to a Run: finds recordings in files, folders and archives, reads each with the reader that knows it, or
// takes it from the column cache.
#pragma once

#include <atomic>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gapless/open_options.h"
#include "trace/run.h"

namespace gapless::internal {

// A StopFlag is the flag that reading and SQLite look at: set by OpenOptions::cancel, or else
// OpenOptions::cancel_flag itself. It must outlive all that reads it, and neither moves nor copies: the stop
// callback holds its address.
class StopFlag {
 public:
  explicit StopFlag(const OpenOptions& options)
      : given_(options.cancel.stop_possible() ? nullptr : options.cancel_flag),
        callback_(options.cancel, Raise{&own_}) {}
  const std::atomic<bool>* get() const { return given_ != nullptr ? given_ : &own_; }
  bool is_set() const { return get()->load(); }

 private:
  struct Raise {
    std::atomic<bool>* flag;
    void operator()() const noexcept { flag->store(true); }
  };
  const std::atomic<bool>* given_;
  std::atomic<bool> own_{false};
  std::stop_callback<Raise> callback_;
};

// A LoadedRun is what could be read of all inputs, and the errors of the rest.
struct LoadedRun {
  Run run;
  std::vector<Error> failures;  // inputs that could not be read, when others could
};

// Paths that begin with `from` are called `to`, with what follows: a recording's own name where it comes through a pipe
// or lies in a copy. Ranks are read from that name, too.
struct CalledAs {
  std::string from{}, to{};
};

// Reads all paths into one Run. A path is a recording, a directory of recordings (its own files in name order; those of
// all directories below if it has no recording itself, and those of a run directory), or a tar archive; "3=path" gives
// the rank. The rank is what was given, else what the recording says, else what the file name says ("rank3", "rank-3",
// "rank_3"), else the place among the names (trace/run.h). A summary of a recording
// that is read as well is left out. Returns an error when nothing at all could be read, when a
// named directory holds no recording, or kInterrupted when the flag was set.
Result<LoadedRun> LoadRun(std::span<const std::string> paths, const OpenOptions& options = {},
                          const CalledAs& shown = {});

// Reads one source, without cache. Used by LoadRun, tests and fuzzing. Returns an error if no reader knows the
// format, or if the reader found nothing useful.
class Source;
struct ReadContext;
Result<Trace> ReadTrace(Source& source, const ReadContext& context);

}  // namespace gapless::internal
