// SPDX-License-Identifier: Apache-2.0
// Summaries whose sections are arbitrary bytes, in a head that fits: they are refused, or every table can be gathered
// from them. The events behind them are the same bytes.
#include <string>

#include "analyses/analysis.h"
#include "check_trace.h"
#include "trace/summary_file.h"

namespace {

using namespace gapless::internal;

void GatherAll(std::shared_ptr<const Trace> light) {
  const Run run(std::vector{std::move(light)});
  Tables tables(run, 1);
  for (const Analysis* analysis : AllAnalyses()) (void)tables.Get(analysis->name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Check(!ReadSummary(bytes) || IsSummary(bytes));
  auto light = ReadSummary(SealSummary(bytes, bytes));
  if (!light) {
    Check(!light.error().message.empty());
    return 0;
  }
  CheckTrace(*light);
  (void)ReadEvents(*light);
  GatherAll(std::make_shared<const Trace>(*std::move(light)));
  return 0;
}
