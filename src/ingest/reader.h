// SPDX-License-Identifier: Apache-2.0
// A reader turns one file format into rows. Bytes in, tables out; it never judges. One format = one file in
// ingest/readers/.
//
// To add one: write src/ingest/readers/<format>.cc and end it with
//   READER(<format>) = {.name = "<format>", .help = "…", .extensions = kExtensions, .sniff = Sniff, .read = Read};
// It then has detection, `gapless formats`, the contract tests (every prefix and a thousand mutations of its sample)
// and fuzzing.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/thread_pool.h"
#include "ingest/source.h"
#include "trace/builder.h"

namespace gapless::internal {

enum class Sniff : uint8_t { kNo, kMaybe, kYes };

// A ReadContext is what a reader gets besides the input. It must outlive the call, and is shared by the reader's
// threads.
struct ReadContext {
  ThreadPool& pool;
  const std::atomic<bool>* cancel = nullptr;  // set: stop soon with kInterrupted
  // Path of an execution trace of PyTorch that may be of the same run; empty: there is none.
  std::string execution_trace{};
  std::function<void()> progress{};  // called now and then, from any thread; may be empty

  bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
};

// A Reader describes one format. Readers are constants; their functions keep no state and may run for several
// inputs at once.
struct Reader {
  std::string_view name;                         // equals the file name
  std::string_view help;                         // one line for `gapless formats`
  std::span<const std::string_view> extensions;  // extensions, with the dot, of files looked for in folders: ".json"
  // Does the (decompressed) input start like this format? kMaybe: only if no other reader says yes.
  Sniff (*sniff)(std::string_view head);
  // Reads everything into `builder`. What was odd or lost is counted there; an error means nothing useful was found.
  Result<void> (*read)(Source& source, TraceBuilder& builder, const ReadContext& context) = nullptr;
  // Called after Finish(): derives what only this format's names show (steps, operator classes). May be null.
  void (*complete)(Trace& trace) = nullptr;
  // Are files of this format read while they are written? What is read of them is never cached.
  bool grows = false;
  // In place of `read`, where a file holds the tables of a trace as they are: they are neither built nor cached.
  Result<Trace> (*open)(Source& source) = nullptr;
  // May it stand behind any amount of other output, as in the log of a job? Then `sniff` is asked about the end, too.
  bool ends_logs = false;
};

#define READER(n)                 \
  extern const Reader n##_reader; \
  constinit const Reader n##_reader

std::span<const Reader* const> AllReaders();  // sorted by name; generated from the folder

}  // namespace gapless::internal
