// SPDX-License-Identifier: Apache-2.0
// The ledger of tested predictions with what this user tested: `gapless predict --measured … --record` keeps it in the
// history.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "predict/predictor.h"

namespace gapless::internal {

// The program's ledger, and what the history at `url` has; empty: the default history, when there is one. A history
// that cannot be read is warned of and left out.
std::vector<AdviceRow> LedgerWithOwn(std::string_view url);

// Keeps what came out of a prediction: `measured`, the step after as a share of the one before.
Result<void> KeepAdvice(std::string_view url, const Prediction& prediction, std::string_view recording,
                        double measured);

}  // namespace gapless::internal
