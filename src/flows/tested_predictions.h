// SPDX-License-Identifier: Apache-2.0
// The test data of predictions: what the program was built with, and what this user tested. `gapless predict --measured
// … --record` keeps a test in the history.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "predict/predictor.h"

namespace gapless::internal {

// Rows of test data, ready for calibration.
struct TestedPredictions {
  std::vector<AdviceRow> rows{};
  std::string warning{};  // names the history that could not be read; empty: it was read, or no history exists
};

// Returns the built-in test data, then that of the history at `url`; empty: the default history, if there is one.
TestedPredictions ReadTestedPredictions(std::string_view url);

// Keeps the outcome of a prediction in the history at `url`. `measured`: the step after as a share of the step before.
Result<void> KeepTestedPrediction(std::string_view url, const Prediction& prediction, std::string_view recording,
                                  double measured);

}  // namespace gapless::internal
