// SPDX-License-Identifier: Apache-2.0
// Moves the traces of a run into files, once those in memory take as much as they may.
#include "ingest/trace_memory.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "trace/trace_file.h"

namespace gapless::internal {
namespace {

constexpr uint64_t kDefaultBytesInMemory = uint64_t{512} << 20;

}  // namespace

std::string FolderOfLargeFiles() {
  const char* given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/var/tmp";
}

uint64_t BytesFromEnvironment(const char* name, uint64_t otherwise) {
  const char* given = std::getenv(name);
  if (given == nullptr) return otherwise;
  const std::string_view text(given);
  uint64_t bytes = 0;
  return std::from_chars(text.data(), text.data() + text.size(), bytes).ec == std::errc() ? bytes : otherwise;
}

TraceMemory::TraceMemory(uint64_t bytes)
    : bound_(bytes > 0 ? bytes : BytesFromEnvironment("GAPLESS_MEMORY_BYTES", kDefaultBytesInMemory)) {}

std::shared_ptr<const Trace> TraceMemory::Settle(std::shared_ptr<const Trace> trace) {
  if (trace->file) return trace;  // from the cache
  const uint64_t bytes = MemoryBytes(*trace);
  if (bytes_.fetch_add(bytes) < bound_) return trace;
  auto moved = MoveToFile(*trace, FolderOfLargeFiles());
  if (!moved) return trace;
  bytes_ -= bytes;
  return std::make_shared<const Trace>(std::move(*moved));
}

}  // namespace gapless::internal
