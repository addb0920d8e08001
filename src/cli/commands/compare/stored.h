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
  bool other_machine = false;  // the two are of different machines or devices: no verdict
};

// Statements of the user about the files, which win over the files.
struct StoredOptions {
  std::string series{};                // its name; empty: the only one both have
  std::optional<Sampling> sampling{};  // what the user says a value is
  std::optional<bool> higher_is_better{};
  double margin = 0.01;
};

// Compares a series of each file. An error: no series, or several, can be compared; units or directions differ; a value
// is not above 0.
Result<StoredComparison> CompareStored(const ResultFile& a, const ResultFile& b, const StoredOptions& options);

std::string StoredText(const StoredComparison& comparison);
// Returns as a sentence how far the two files can answer the question.
std::string WhatTheyShow(const StoredComparison& comparison);
std::string StoredJson(const StoredComparison& comparison);

}  // namespace gapless::internal
