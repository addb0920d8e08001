// SPDX-License-Identifier: Apache-2.0
// How far predictions were off when they were tested, and what that says of the next one.
//
// The ledger of advice (bench/results/advice.csv, part of the program, and what a user's own store adds to it) holds
// for every tested prediction what the model said of the step, as a share of the step before, and what was measured.
// With e = ln(measured / expected) of each:
//
//   shift   of a kind of fix: the sum of its e over its number plus kPriorPairs, so that few pairs move little
//           of a combination that nobody tested: the sum of its parts' shifts
//   width   h of a prediction: how far its model's own bounds lie from what it expects, in logarithms, and kLeastWidth
//           beside it, for no step is measured exactly
//   factor  c for all kinds: of |e − shift| / h, the ⌈0.8 (n + 1)⌉-th smallest, which makes intervals that hold four
//           of five truths whatever the distribution (split conformal prediction, Papadopoulos et al. 2002; Lei et al.
//           2018); 1 with fewer than kLeastPairs
//
// The interval is expected · e^shift · e^(±c h), on each side with the h of that side.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

inline constexpr double kCoverage = 0.8;
inline constexpr double kPriorPairs = 2;
inline constexpr double kLeastWidth = 0.03;
inline constexpr size_t kLeastPairs = 4;

// Of the step before: 0.5 is twice as fast.
struct StepShares {
  double low = 1, expected = 1, high = 1;
};

struct AdviceRow {
  std::string id{}, kind{};  // of a combination: its items in order, joined by "+"
  std::string recording{};   // where the prediction was made from; empty: it is not kept
  double measured = 1;       // share of the step before
  StepShares model{};        // as the model said, without calibration
};

// Rows of a ledger file (CSV with a line of names: at least id, kind, measured_ratio, predicted_low,
// predicted_expected, predicted_high); those without a prediction or a measurement are left out. A fault names its
// line.
Result<std::vector<AdviceRow>> ParseLedger(std::string_view csv);
std::span<const AdviceRow> BuiltInLedger();

class Calibration {
 public:
  explicit Calibration(std::span<const AdviceRow> rows);

  StepShares Apply(std::string_view kind, const StepShares& model) const;
  // Half of the predictions of this kind were within this share of the truth, and of how many that is said; of any kind
  // when there are fewer than kLeastPairs of it. Absent: too few at all.
  struct Quote {
    double within = 0;
    size_t pairs = 0;
    bool any_kind = false;
  };
  std::optional<Quote> QuoteFor(std::string_view kind) const;
  double factor() const { return factor_; }
  double ShiftOf(std::string_view kind) const;

 private:
  std::vector<AdviceRow> rows_;
  std::map<std::string, double, std::less<>> shifts_{};  // by kind
  double factor_ = 1;
};

// Each row predicted by a calibration that has not seen it.
std::vector<StepShares> LeaveOneOut(std::span<const AdviceRow> rows);

}  // namespace gapless::internal
