// SPDX-License-Identifier: Apache-2.0
// The record of one benchmark in the history: where it ran, of which commit, and its metrics with their samples.
//
// Absent is absent: an empty text and an empty optional are NULL in the database, a metric that was not measured is not
// in the list. Times are Unix time in ns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// The unit of one value of a sample. Values of iterations of one process say nothing about the next process: their
// spread is not that between runs.
enum class Sampling : uint8_t { kUnknown, kProcess, kIteration };
std::string_view NameOf(Sampling sampling);  // "unknown", "process", "iteration"
// Returns kUnknown for any other name, also for a name that a newer program wrote.
Sampling SamplingFrom(std::string_view name);

// One measured quantity of a run: its value, and the sample that the value was computed from.
struct MetricRecord {
  std::string name;  // at most kLongestName bytes, once in a record
  double value = 0;  // finite
  std::string unit{};
  std::optional<bool> higher_is_better{};
  Sampling sampling = Sampling::kUnknown;
  std::vector<double> samples{};  // finite, in the order they were measured

  bool operator==(const MetricRecord&) const = default;
};

// A verdict on a metric of a run: an alarm that is pending, confirmed, withdrawn. Only ever added to.
struct VerdictRecord {
  int64_t recorded_unix_ns = 0;  // 0: now
  std::string metric;            // empty: of the whole run
  std::string kind;              // "pending", "confirmed", …
  std::string detail;            // JSON

  bool operator==(const VerdictRecord&) const = default;
};

// One run of a benchmark.
struct BenchmarkRecord {
  int64_t id = 0;                           // in the database it was read from; 0: none
  std::string uid;                          // the same in every database it is brought to; empty: one is made
  std::optional<int64_t> recorded_unix_ns;  // absent: now
  std::string commit_sha, branch;
  std::optional<bool> dirty;
  std::optional<int64_t> author_unix_ns;
  std::string benchmark;  // what was measured, when a history holds several
  std::string command, host, fingerprint, gpu_type;
  std::optional<int64_t> num_gpus, batch_size;
  std::string framework, driver;
  std::string environment;  // JSON
  std::string source;       // the tool whose file it was
  std::string ledger{};     // JSON: the account of a step of a recording, of which `gapless why` compares two
  std::vector<MetricRecord> metrics;
  std::vector<VerdictRecord> verdicts;

  // The metric called so; null: it was not measured.
  const MetricRecord* Find(std::string_view name) const;
  bool operator==(const BenchmarkRecord&) const = default;
};

// The maximum length of names of branches, commits, benchmarks, metrics and units, which are in indices that PostgreSQL
// limits.
inline constexpr size_t kLongestName = 500;
inline constexpr size_t kLongestText = size_t{64} << 20;  // maximum length of any other text

}  // namespace gapless::internal
