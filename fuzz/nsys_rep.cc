// SPDX-License-Identifier: Apache-2.0
// The reader of Nsight Systems' reports on arbitrary events. Mutations of a whole file seldom get past its lengths, so
// the input is the message of a block of events, and the report around it is made here. An input that begins as a
// report is read as one.
#include <string>

#include "check_trace.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys_rep/container.h"
#include "ingest/readers/nsys_rep/testing/reports.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gapless::internal;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const bool whole = bytes.starts_with(nsys_rep::kMagic);
  if (!whole) {
    nsys_rep::testing::Report report;
    const auto field = nsys_rep::testing::Message().Int(1, 2).Int(2, 0).Int(3, 4);
    report.layouts = {nsys_rep::testing::Message().Int(1, 1).Add(3, field)};
    report.raw = {nsys_rep::testing::Block(bytes)};
    bytes = report.Bytes();
  }
  CheckReading(std::move(bytes));
  return 0;
}
