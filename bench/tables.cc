// SPDX-License-Identifier: Apache-2.0
// Reads a recording to queryable tables and nothing more: what `bench/run` times against the yardstick.
//
//   tables [--cache] FILE
#include <cstdio>
#include <string>

#include "base/allocator.h"
#include "ingest/load.h"

int main(int argc, char** argv) {
  gapless::internal::ReturnLargeBlocks();  // as the program does
  const bool cache = argc == 3 && std::string(argv[1]) == "--cache";
  if (argc != (cache ? 3 : 2)) return std::fprintf(stderr, "usage: tables [--cache] FILE\n"), 2;
  const auto loaded = gapless::internal::LoadRun(std::vector<std::string>{argv[argc - 1]}, {.use_cache = cache});
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().ToString().c_str()), 3;
  const auto& trace = *loaded->run.traces()[0].trace;
  std::printf("%lld events, %zu slices, %zu GPU operations, %zu bytes of columns\n",
              static_cast<long long>(trace.info.event_count), trace.slices.size(), trace.gpu_ops.size(),
              gapless::internal::MemoryBytes(trace));
  return 0;
}
