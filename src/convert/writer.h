// SPDX-License-Identifier: Apache-2.0
// A writer turns a run into files that other tools open. One form = one file in convert/writers/.
//
// To add one: write src/convert/writers/<name>.cc and end it with
//   WRITER(<name>) = {.name = "<name>", .help = "…", .extensions = kExtensions, .write = Write};
// It is then `gapless convert --format <name>`. A writer passes its bytes on block by block: what it holds besides the
// run must not grow with it. All texts of a recording are untrusted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/intervals.h"
#include "base/result.h"
#include "convert/sink.h"
#include "predict/advice.h"
#include "trace/run.h"

namespace gapless::internal {

// The parts of the output that can be left out.
struct WriteParts {
  bool annotations = true;  // ours: steps, idle gaps, bottlenecks, counters made from the recording
  bool counters = true;     // recorded ones, and ours
  bool flows = true;        // arrows
  bool memory = true;       // the allocator's events
  bool python = true;       // frames
};

// Only rows that begin within; times of the trace. Ordered, disjoint, not empty.
using WriteWindows = Intervals;

// A WriteInput is what to write, and how to report progress. Everything in it must outlive the call.
struct WriteInput {
  const Run& run;
  std::vector<const RunTrace*> traces{};  // to be written
  std::optional<std::vector<WriteWindows>>
      windows{};  // windows of each of `traces`, possibly empty; absent: everything
  WriteParts parts{};
  Tables* tables = nullptr;                                  // with parts.annotations: what to annotate with
  const Advice* advice = nullptr;                            // the same
  const std::atomic<bool>* cancel = nullptr;                 // set: return kInterrupted soon
  std::function<void(int64_t done, int64_t of)> progress{};  // rows, now and then; may be empty

  bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
};

struct Written {
  std::vector<std::pair<std::string_view, int64_t>> events;  // by kind, those there are
  int64_t bytes = 0;                                         // before compression
};

// A Writer describes one format. Writers are constants; `write` keeps no state between calls.
struct Writer {
  std::string_view name;                         // equals the file name
  std::string_view help;                         // one line of at most 72 characters
  std::span<const std::string_view> extensions;  // what its files are called, with the dot
  // Writes all of `input`: into one file, or into as many of a folder as the form likes. Sinks are finished; the
  // destination makes the files appear.
  Result<Written> (*write)(const WriteInput& input, Destination& destination);
};

#define WRITER(n)                 \
  extern const Writer n##_writer; \
  constinit const Writer n##_writer

std::span<const Writer* const> AllWriters();  // sorted by name; generated from the folder
// Returns the writer called `name`, or null.
const Writer* FindWriter(std::string_view name);

}  // namespace gapless::internal
