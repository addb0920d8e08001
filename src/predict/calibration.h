// SPDX-License-Identifier: Apache-2.0
// Measures how far predictions were off when they were tested, and what that says of the next one.
//
// The ledger of advice (bench/results/advice.csv, part of the program, and what a user's own store adds to it) holds
// for every tested prediction what the model said of the step, as a share of the step before, and what was measured.
// Rows of machines with a GPU and of machines without one are kept apart: a model that is right on the one says little
// of the other. All rows of one repository are one trial, for they share its script, its machine and its author; each
// repository weighs the same. With x = ln(expected) and y = ln(measured) of each row:
//
//   slope   a of a kind of fix: how much of the predicted effect is there, by least squares through the origin with a
//           prior of kPriorPrograms programs of which each had an effect of kPriorEffect as predicted. An effect of
//           nothing stays nothing. 1 of a kind that fewer than kMinSlopePrograms repositories tested, for one program
//           says little of the next, and of kernels= and host=, where the change is given and only replayed: the errors
//           of a replay have no direction.
//   width   w of a row, beside what the model says of itself. Errors grow with what is predicted, so that w is a
//           multiple of s = √(kMinWidth² + (kGrowth a x)²), of given changes of kMinWidth. With m how far the model's
//           bound on the side of the truth lies from what it expects, a row would have been held by the multiple
//           √((y − a x)² − m²) / s, or by 0; with a of the other repositories alone, the multiple is the weighted
//           quantile of rank 0.8 (n + 1) over the n repositories of a machine, which makes intervals that hold four of
//           five truths whatever the distribution (normalised split conformal prediction, Papadopoulos et al. 2002; Lei
//           et al. 2018). Given changes and modelled ones are apart: the errors of a replay say nothing of a model's.
//           At least kMinWidth, for no step is measured exactly; kUntestedWidth with fewer than kMinPrograms. Of an
//           effect that was not tested on such a machine, besides, a share of kUntestedShare may not be there, or be
//           more.
//
// The interval is exp(a x ± √(m² + w²)), on each side with the m of that side.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/advice_ledger.h"

namespace gapless::internal {

inline constexpr double kCoverage = 0.8;
inline constexpr double kPriorPrograms = 2, kPriorEffect = 0.3;
inline constexpr double kMinWidth = 0.03, kGrowth = 0.1;
inline constexpr double kUntestedWidth = 0.2, kUntestedShare = 0.35;
inline constexpr size_t kMinPrograms = 5, kMinSlopePrograms = 3;

// The effect of one fix as its model says, in logarithms of the step's share.
struct Effect {
  double expected = 0, down = 0, up = 0;  // the distances to its bounds: at least 0
};

class Calibration {
 public:
  Calibration(std::span<const AdviceRow> rows, Machine machine);

  // Returns the calibration of a kind of fix.
  Effect Apply(std::string_view kind, const Effect& model) const;
  double SlopeOf(std::string_view kind) const;
  // Returns the width of a kind beside its model's bounds, for an effect of `expected` (calibrated, a logarithm).
  double WidthOf(std::string_view kind, double expected) const;

  // On how many programs of this machine the kind was tested, and their median error; `within` is absent without tests.
  struct Tested {
    size_t programs = 0;
    std::optional<double> within{};
  };
  Tested TestedOf(std::string_view kind) const;

 private:
  void Add(const AdviceRow& row, double weight);
  std::optional<double> FitWidth(bool given) const;
  double SlopeWithout(const AdviceRow& row) const;  // that of the other repositories
  double Miss(const AdviceRow& row) const;          // y − a x, with a of the other repositories

  std::vector<AdviceRow> rows_{};
  std::map<std::string, size_t, std::less<>> of_repository_{};  // rows of each
  struct Slope {
    double xy = 0, xx = 0;                              // weighted sums
    std::map<std::string, size_t, std::less<>> rows{};  // number of rows of each repository
    double value() const;
  };
  std::map<std::string, Slope, std::less<>> slopes_{};  // by kind
  std::optional<double> modelled_{}, given_{};          // multiples of the scale; absent: too few repositories
};

StepShares SharesOf(const Effect& effect);
Effect EffectOf(const StepShares& shares);
// Combines the errors of two effects in a row: errors of independent models add as squares.
Effect operator+(const Effect& a, const Effect& b);

// Each row predicted by a calibration that has seen none of its repository.
std::vector<StepShares> LeaveOneOut(std::span<const AdviceRow> rows);

}  // namespace gapless::internal
