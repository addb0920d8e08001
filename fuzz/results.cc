// SPDX-License-Identifier: Apache-2.0
// Files of results, of JSON, XML and text, and lines of an exported history, on arbitrary input: what is read has
// values, becomes a record unless all of it failed, and a record that was written reads back.
#include <cstdlib>
#include <string_view>

#include "store/record_lines.h"
#include "store/result_reader.h"

namespace {

void Check(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gapless::internal;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto record = RecordFromLine(text)) Check(RecordFromLine(LineOf(*record)).has_value());
  const auto file = ReadResults(text, "results");
  if (!file) return 0;
  Check(!file->series.empty());
  for (const ResultSeries& series : file->series) Check(!series.values.empty());
  const auto record = RecordFrom(*file);
  if (!record) {
    Check(!file->failed.empty() || !file->runs.empty());
    return 0;
  }
  Check(record->metrics.size() == file->series.size() || !file->failed.empty());
  const auto again = RecordFromLine(LineOf(*record));
  Check(again.has_value() && again->metrics.size() == record->metrics.size());
  return 0;
}
