// SPDX-License-Identifier: Apache-2.0
// The comparison of two stored results, `gapless compare A.json B.json`. Its meaning depends on what a value is.
//
// Values of processes: two independent samples whose size was fixed before; the interval of the shift of the logarithms
// (Hodges and Lehmann 1963) decides, and the Mann-Whitney test gives the p value. Values of iterations of one process
// each: they describe these two processes only. The next pair of processes may differ by more than all of their
// iterations (memory layout, clocks), so that a difference is reported, but no verdict on the commands is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/result_reader.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

inline constexpr size_t kMinProcesses = 4;  // with fewer on both sides the rank test's interval has no ends
inline constexpr int kSeriesColumns = 60;   // the most columns of a name in texts

// The result of comparing two series. Intervals, p values and mde_share are absent where the values support none.
struct StoredComparison {
  std::string name, b_name, unit;  // name and unit of the compared quantity
  Sampling sampling = Sampling::kUnknown;
  bool higher_is_better = false;
  size_t a_count = 0, b_count = 0;
  double a = 0, b = 0;  // medians
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;
  RatioInterval speedup;  // speedup of B over A; above 1 is better
  std::optional<double> p_mann_whitney, p_welch;
  std::optional<double> mde_share;  // absent where no verdict can be given
  double margin = 0;
  bool other_machine = false;   // the two are of different machines or devices: no verdict
  bool has_failed = false;      // a run of either failed: no verdict
  std::string_view formula{};   // how the tool of A computes the quantity, a constant; empty: not known
  std::string_view own_name{};  // what the quantity is called here; empty: it has no name
};

// Statements of the user about the files, which win over the files.
struct StoredOptions {
  std::string series{};                // its name, or a short one that is unique; empty: all that both have
  std::optional<Sampling> sampling{};  // what the user says a value is
  std::optional<bool> higher_is_better{};
  double margin = 0.01;
};

// A side of which runs failed: "B: 10 of 10 runs of 'python train.py' failed (exit status 1)".
struct FailedSide {
  std::string_view side;  // "A", "B"
  FailedRuns runs;
};

// A StoredAnswer holds the comparisons of all series of two files, or of one file, and the runs that failed.
struct StoredAnswer {
  std::vector<StoredComparison> all;                  // at least one
  std::vector<FailedSide> failed;                     // failed runs of the series that were asked for
  std::vector<std::string> left_out;                  // series that cannot be compared, and why
  std::vector<std::string> only_in_a{}, only_in_b{};  // names of series that the other file has not
  std::optional<double> threshold{};                  // share by which a series may be slower; absent: not asked

  // A failed run: no verdict. Else slower if any series is, else no verdict if one has none, else faster if any is.
  SpeedVerdict Verdict() const;
  // The slowest of those that have the verdict.
  const StoredComparison& Main() const;
  // Returns the series that are slower by more than the threshold, by the plain ratio.
  std::vector<const StoredComparison*> BeyondThreshold() const;
};

// Compares the series that both files have, or the one that was named. An error: none can be compared; units or
// directions differ; a value is not above 0.
Result<StoredAnswer> CompareFiles(const ResultFile& a, const ResultFile& b, const StoredOptions& options);
// Compares the first series of a file, as A, with each other one that measures the same.
Result<StoredAnswer> CompareWithin(const ResultFile& file, const StoredOptions& options);

// Returns how much more time B takes, as a share: 0.53 is half as much again, whatever the direction of the metric.
double SlowerBy(const StoredComparison& comparison);

}  // namespace gapless::internal
