// SPDX-License-Identifier: Apache-2.0
// The reader of CUPTI streams on arbitrary records. Checksums keep mutations of a whole file from the records, so the
// input is the payload, and the block around it is made here. The first 16 bytes are the readings of the clocks.
#include <cstring>
#include <string>

#include "check_trace.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/cupti/testing/streams.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gapless::internal;
  static ThreadPool pool(1);
  int64_t clocks[2] = {};
  if (size < sizeof clocks || size > wire::kMaxPayloadBytes) return 0;
  std::memcpy(clocks, data, sizeof clocks);
  const std::string payload(reinterpret_cast<const char*>(data) + sizeof clocks, size - sizeof clocks);
  MemorySource source(cupti::testing::FileHeaderOf(42) + cupti::testing::BlockOf(payload, clocks[0], clocks[1]));
  const auto trace = ReadTrace(source, {.pool = pool});
  Check(trace.has_value());
  CheckTrace(*trace);
  return 0;
}
