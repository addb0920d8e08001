// SPDX-License-Identifier: Apache-2.0
// The output of `gapless predict`: text and JSON.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "predict/critical_path.h"
#include "predict/predictor.h"
#include "predict/scale_out.h"
#include "predict/sweep.h"

namespace gapless::internal {

// The content that both formats show. The predictor outlives it.
struct PredictView {
  const Predictor* predictor = nullptr;  // null: nothing was recorded that can be replayed
  std::string why_not{};                 // why no time can be predicted; predictions have their memory alone then
  std::vector<Prediction> predictions{};
  std::optional<DividedPath> path{};  // critical path of the main rank as recorded
  std::optional<double> measured{};   // the step after, as a share of the one before; of the only prediction
  std::string_view sweep_by{};
  std::vector<SweptPart> sweep{};
  std::optional<ScaleOut> scale{};  // the step with other numbers of ranks
  bool shows_all = true;            // also fixes that would change nothing; false: their number alone

  bool is_accepted() const { return predictor != nullptr && predictor->check().accepted(); }
};

// Returns a share of the recorded step in ns.
inline int64_t StepNs(const Predictor& predictor, double share) {
  return std::llround(static_cast<double>(predictor.step_ns()) * share);
}
// Returns true if the measured share is in the 80 % prediction interval, its ends included.
inline bool IsWithin(const StepShares& shares, double measured) {
  return measured >= shares.low && measured <= shares.high;
}

std::string PredictText(const PredictView& view,
                        int columns);  // lines of at most `columns` columns, unless a name is longer
// The documents of --json, and of --list --json.
extern const TypeInfo kPredictDocument, kWhatIfsDocument;
std::string PredictJson(const PredictView& view);
std::string WhatIfsText();
std::string WhatIfsJson();

}  // namespace gapless::internal
