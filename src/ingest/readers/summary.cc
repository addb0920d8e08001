// SPDX-License-Identifier: Apache-2.0
// Summaries that `gapless summarize` wrote (trace/summary_file.h). docs/formats/summary.md describes them.
#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "trace/summary_file.h"

namespace gapless::internal::summary_reader {
namespace {

constexpr std::string_view kExtensions[] = {kSummaryExtension};

Sniff SniffHead(std::string_view head) { return IsSummary(head) ? Sniff::kYes : Sniff::kNo; }

Result<Trace> Open(Source& source) {
  GAPLESS_ASSIGN(const std::string bytes, ReadAll(source));
  auto trace = ReadSummary(bytes);
  if (!trace) trace.error().place = source.path();
  return trace;
}

}  // namespace

READER(summary) = {.name = "summary",
                   .help = "Summaries of recordings, by gapless summarize and gapless merge",
                   .extensions = kExtensions,
                   .sniff = SniffHead,
                   .open = Open};

}  // namespace gapless::internal::summary_reader
