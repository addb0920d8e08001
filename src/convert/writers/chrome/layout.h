// SPDX-License-Identifier: Apache-2.0
// Places each row in a process and thread of the file, and defines the clock that they share.
//
// Host threads keep the numbers they were recorded with, so that the file reads back as it was; only where two ranks of
// one file have the same process number, the later gets another. Each device is a process: its number is the device's,
// unless a host process has it. On it a thread is a stream, and two more beside it hold the ranges of annotations and
// the waits, which may overlap the stream's work where viewers want slices of a thread to nest. What gapless adds is a
// process of its own for each rank.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "convert/writers/chrome/events.h"
#include "trace/run.h"

namespace gapless::internal::chrome {

// The threads of one stream.
struct StreamTids {
  int64_t work = 0, annotations = 0, waits = 0;
  bool has_work = false, has_annotations = false, has_waits = false;
};

struct DevicePlaces {
  int64_t pid = 0;
  std::map<int64_t, StreamTids> streams;
};

// The places of one trace.
struct Places {
  std::vector<Place> threads;               // by ThreadId
  std::map<int32_t, DevicePlaces> devices;  // kAbsent32: device not recorded
  int64_t own_pid = 0;                      // process id of the rows that gapless adds
  int64_t offset_ns = 0;                    // time in the file = time of the trace + this

  // Thread → the host's process with that thread, the main one first: there an arrow's end stands.
  std::unordered_map<int64_t, int64_t> pid_of_tid;
};

struct Layout {
  int64_t base_unix_ns = kAbsent;  // the file's zero on the wall clock, when that is known
  std::vector<Places> traces;
};

Layout MakeLayout(std::span<const RunTrace* const> traces);

}  // namespace gapless::internal::chrome
