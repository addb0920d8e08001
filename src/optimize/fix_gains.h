// SPDX-License-Identifier: Apache-2.0
// Measured gains of fixes, from bench/results/fixes.csv, which bench/fix_gains.py writes and the program contains. A
// row is one fix of one script on one kind of machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

struct FixGain {
  std::string item{};     // "workers=2"
  std::string script{};   // with its arguments, below the repository
  std::string machine{};  // "NVIDIA H100", or a processor
  std::string outcome{};  // ToString(FixOutcome): "accepted", "too_small", …; "absent": there was nothing to try
  std::optional<RatioInterval> measured{};  // speedups; absent: it was not measured, `reason` says why
  std::optional<double> predicted{};
  std::string losses{};  // "exact", "within" what two runs differ by, "other"; empty: not compared
  std::string torch{}, date{}, reason{};
};

// Parses a table of gains: CSV with a line of names. Returns an error that names the line of the first fault.
Result<std::vector<FixGain>> ParseFixGains(std::string_view csv);
// Returns the gains that the program contains, parsed once; safe for several threads.
std::span<const FixGain> MeasuredGains();

}  // namespace gapless::internal
