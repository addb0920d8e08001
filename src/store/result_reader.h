// SPDX-License-Identifier: Apache-2.0
// Result files of benchmarking tools: from a file to series of values.
//
// To add one: write src/store/results/<tool>.cc and end it with
//   RESULTREADER(<tool>) = {.name = "<tool>", .help = "…", .recognises = Recognises, .read = Read};
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "base/result.h"
#include "store/record.h"

namespace gapless::internal {

// The values of one quantity of one benchmark.
struct ResultSeries {
  std::string name;            // benchmark, and the quantity where the file has several; once in a file
  std::string unit;            // "s", "bytes", …; empty: none, or not in the file
  std::vector<double> values;  // at least one, finite, in the order of the file; times in seconds
  Sampling unit_of_sampling = Sampling::kUnknown;
  std::optional<bool> higher_is_better;  // absent: not in the file
};

// The content of a result file, whatever tool wrote it.
struct ResultFile {
  std::string_view tool;  // the reader's name
  std::vector<ResultSeries> series;
  // The facts in the file about the place of the measurement. Its metrics are not filled in.
  BenchmarkRecord facts;
};

// The file as a reader gets it. Everything outlives the call.
struct ResultInput {
  std::string_view path;  // as given
  std::string_view text;
  const JsonValue* json = nullptr;  // null: the text is no JSON
  std::string_view column;          // column of plain numbers: its name, or its number from 1; empty: all columns
};

// Reads the files of one tool. `read` is called only for inputs that `recognises` accepted.
struct ResultReader {
  std::string_view name;  // equals the file name
  std::string_view help;  // one line of at most 72 characters
  // At most one reader recognises a file; the plain one is asked last.
  bool (*recognises)(const ResultInput& input);
  Result<ResultFile> (*read)(const ResultInput& input);
};

#define RESULTREADER(n)                       \
  extern const ResultReader n##_resultreader; \
  constinit const ResultReader n##_resultreader

std::span<const ResultReader* const> AllResultReaders();  // sorted by name; generated from the folder

// Reads a file of any tool. An error of the input says which ones are known.
Result<ResultFile> ReadResultFile(const std::string& path, std::string_view column = {});
// The same of a text; `path` is for messages and for files beside it.
Result<ResultFile> ReadResults(std::string_view text, std::string_view path, std::string_view column = {});

// Returns the file as a record: a metric for each series, its value the median of the values, which are its samples. A
// series of one value has no samples.
Result<BenchmarkRecord> RecordFrom(const ResultFile& file);

inline constexpr size_t kLargestResultFile = size_t{512} << 20;

}  // namespace gapless::internal
