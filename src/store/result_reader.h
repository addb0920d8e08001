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
  std::string short_name{};              // how people call it, which need not be unique; empty: by its name
  std::string_view formula{};            // how the tool computes it, a constant; empty: not known, or the name says it
  std::string_view own_name{};  // what the same quantity is called here (docs/definitions.md); empty: it has no name
};

// Runs that failed. What they measured is no result, and is not among the values of the series.
struct FailedRuns {
  std::string series;             // the name that the series has, or would have; empty: all of the file
  size_t failed = 0;              // at least one
  std::optional<size_t> all;      // number of runs, failed or not; absent: not in the file
  std::string_view what = "run";  // "run", "request", "repetition", …
  std::string why;                // "exit status 1"; empty: not in the file
  bool may_be_left_out = false;   // the file does not tell what failed from what was left out on purpose
};
// "10 of 10 runs of 'python train.py' failed (exit status 1)"
std::string DescribeFailed(const FailedRuns& failed);
struct ResultFile;
// The same of all of a file.
std::string DescribeAllFailed(const ResultFile& file);

// The content of a result file, whatever tool wrote it.
struct ResultFile {
  std::string_view tool;  // the reader's name
  std::vector<ResultSeries> series;
  std::vector<FailedRuns> failed{};
  // The facts in the file about the place of the measurement. Its metrics are not filled in.
  BenchmarkRecord facts;
  // Runs of a file that holds one after the other, oldest first, each with its commit. The series then have the values
  // of all runs.
  std::vector<BenchmarkRecord> runs{};
  bool is_one_run = false;  // the series are quantities of one run, and no alternatives of each other
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
// series of one value has no samples, and one of which a run failed is left out. An error: nothing is left, or the file
// holds many runs.
Result<BenchmarkRecord> RecordFrom(const ResultFile& file);

// Does a run of the series count as failed? What may have been left out on purpose does not.
bool HasFailed(const ResultFile& file, std::string_view series);

// Returns the seconds of a unit, as files write times: "ms", "us", "seconds", "ns/iter" …; absent: the unit is no time.
std::optional<double> SecondsIn(std::string_view unit);
// Returns true if more is better, by the unit: rates, and not times and sizes. Absent: the unit does not say.
std::optional<bool> HigherIsBetterBy(std::string_view unit);

inline constexpr size_t kLargestResultFile = size_t{512} << 20;

}  // namespace gapless::internal
