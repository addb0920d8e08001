// SPDX-License-Identifier: Apache-2.0
// The reader of Nsight Compute's reports on arbitrary results. Mutations of a whole file seldom get past its lengths,
// so the input is the message of a launch, and the report around it is made here. An input that begins as a report is
// read as one.
#include <cmath>
#include <cstdlib>
#include <string>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/ncu_rep/container.h"
#include "ingest/readers/ncu_rep/testing/reports.h"

namespace {

void Check(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gapless::internal;
  static ThreadPool pool(2);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with(ncu_rep::kMagic)) {
    using ncu_rep::testing::Launch;
    ncu_rep::testing::Block block{.names = {"gpu__time_duration.sum", "launch__grid_size"}, .results = {Launch("a")}};
    const size_t results = block.results.size() + 1;
    block.behind = ncu_rep::testing::Sized(bytes);
    bytes = ncu_rep::testing::Report({block});
    const size_t count = bytes.find("\x10\x01", 10);  // how many results the header says
    if (count != std::string::npos) bytes[count + 1] = static_cast<char>(results);
  }
  MemorySource source(std::move(bytes));
  const auto trace = ReadTrace(source, {.pool = pool});
  if (!trace) {
    Check(!trace.error().message.empty() && !trace.error().hint.empty());
    return 0;
  }
  const auto& metrics = trace->kernel_metrics;
  for (size_t row = 0; row < metrics.size(); ++row) {
    Check(static_cast<size_t>(metrics.metric[row]) < trace->strings.size());
    Check(std::isnan(metrics.value[row]) || std::isfinite(metrics.value[row]));
    Check(metrics.launch_index[row] >= 0);
  }
  return 0;
}
