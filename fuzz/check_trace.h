// SPDX-License-Identifier: Apache-2.0
// Properties of every trace that a reader makes, whatever its input was: a fuzz target stops where one does not hold.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include "base/thread_pool.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "trace/trace.h"

namespace gapless::internal {

inline void Check(bool good) {
  if (!good) std::abort();
}

inline void CheckTrace(const Trace& trace) {
  for (size_t row = 0; row < trace.slices.size(); ++row) {
    Check(trace.slices.dur_ns[row] >= 0);
    Check(static_cast<size_t>(trace.slices.name[row]) < trace.strings.size());
    Check(trace.slices.thread[row].value < trace.threads.size());
    Check(row == 0 || trace.slices.ts_ns[row - 1] <= trace.slices.ts_ns[row]);
  }
  for (size_t row = 0; row < trace.gpu_ops.size(); ++row) {
    Check(trace.gpu_ops.dur_ns[row] >= 0);
    Check(static_cast<size_t>(trace.gpu_ops.name[row]) < trace.strings.size());
    Check(!trace.gpu_ops.launch[row].valid() || trace.gpu_ops.launch[row].value < trace.slices.size());
  }
}

// Reads the bytes as a recording: a whole trace, or an error that says what to do.
inline void CheckReading(std::string bytes) {
  static ThreadPool pool(2);
  MemorySource source(std::move(bytes));
  const auto trace = ReadTrace(source, {.pool = pool});
  if (trace)
    CheckTrace(*trace);
  else
    Check(!trace.error().message.empty() && !trace.error().hint.empty());
}

}  // namespace gapless::internal
