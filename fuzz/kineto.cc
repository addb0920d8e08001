// SPDX-License-Identifier: Apache-2.0
// The readers on arbitrary bytes: whatever comes out must be a trace whose ids all point into their tables.
#include <cstdlib>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace {

void Check(bool good) {
  if (!good) std::abort();
}

void CheckTrace(const gapless::internal::Trace& trace) {
  const auto& slices = trace.slices;
  for (size_t row = 0; row < slices.size(); ++row) {
    Check(slices.dur_ns[row] >= 0 && slices.self_ns[row] >= 0 && slices.self_ns[row] <= slices.dur_ns[row]);
    Check(!slices.parent[row].valid() || slices.parent[row].value < row);
    Check(slices.thread[row].value < trace.threads.size());
    Check(static_cast<size_t>(slices.name[row]) < trace.strings.size());
    Check(row == 0 || slices.ts_ns[row - 1] <= slices.ts_ns[row]);
  }
  for (size_t row = 0; row < trace.gpu_ops.size(); ++row) {
    Check(!trace.gpu_ops.launch[row].valid() || trace.gpu_ops.launch[row].value < slices.size());
    Check(!trace.gpu_ops.step[row].valid() || trace.gpu_ops.step[row].value < trace.steps.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static gapless::internal::ThreadPool pool(2);
  gapless::internal::MemorySource source(std::string(reinterpret_cast<const char*>(data), size));
  const auto trace = gapless::internal::ReadTrace(source, {.pool = pool});
  if (trace) CheckTrace(*trace);
  return 0;
}
