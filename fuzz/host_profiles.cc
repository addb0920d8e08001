// SPDX-License-Identifier: Apache-2.0
// The readers of host profiles on arbitrary bytes. They are asked one after the other whatever the bytes look like, for
// mutations seldom get past the recognition of a format.
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "check_trace.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace {

constexpr std::array<std::string_view, 9> kNames = {"collapsed",       "perf_script",  "line_profiler",
                                                    "memory_profiler", "memray",       "scalene",
                                                    "proton",          "pyinstrument", "memory_timeline"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gapless::internal;
  static ThreadPool pool(1);
  if (size == 0) return 0;
  const std::string_view name = kNames[data[0] % kNames.size()];
  MemorySource source(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  for (const Reader* reader : AllReaders()) {
    if (reader->name != name) continue;
    TraceBuilder builder;
    const auto read = reader->read(source, builder, {.pool = pool});
    if (!read) {
      Check(!read.error().message.empty() && !read.error().hint.empty());
      continue;
    }
    const Trace trace = std::move(builder).Finish(&pool);
    CheckTrace(trace);
    for (size_t row = 0; row < trace.samples.size(); ++row)
      Check(trace.samples.stack[row].valid() && trace.samples.stack[row].value < trace.stacks.size());
    for (size_t row = 0; row < trace.stacks.size(); ++row)
      Check(!trace.stacks.parent[row].valid() || trace.stacks.parent[row].value < row);
  }
  return 0;
}
