// SPDX-License-Identifier: Apache-2.0
// Bounds the memory that the traces of a run take: those beyond the bound lie in files without a name, whose pages are
// in memory only while an analysis reads them (trace/mapped_file.h). A thousand ranks of 20 MB would take 5.5 GB, of
// which each analysis reads a few columns.
//
// The bound is GAPLESS_MEMORY_BYTES (default 512 MiB), the folder is TMPDIR or else /var/tmp, because /tmp is memory on
// many systems. A trace stays in memory where its file cannot be written. The first trace stays, too, however large.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "trace/trace.h"

namespace gapless::internal {

// Returns the number of the environment variable `name`; `otherwise` if it is not set, or no number.
uint64_t BytesFromEnvironment(const char* name, uint64_t otherwise);

// The folder of files that may be large: TMPDIR or else /var/tmp.
std::string FolderOfLargeFiles();

class TraceMemory {
 public:
  // At most `bytes`; 0: the bound of the environment.
  explicit TraceMemory(uint64_t bytes = 0);
  // Returns the same trace, in memory or in a file. Called by several threads at once.
  std::shared_ptr<const Trace> Settle(std::shared_ptr<const Trace> trace);

 private:
  uint64_t bound_;
  std::atomic<uint64_t> bytes_ = 0;  // what the traces in memory hold
};

}  // namespace gapless::internal
