// SPDX-License-Identifier: Apache-2.0
// The ledger of advice: what was predicted of fixes that people then made, and what they brought.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Share of the step before: 0.5 is twice as fast.
struct StepShares {
  double low = 1, expected = 1, high = 1;
};

// The kind of machine on which a training runs.
enum class Machine : uint8_t { kGpu, kHost };
std::string_view NameOf(Machine machine);  // "gpu", "cpu"

struct AdviceRow {
  std::string id{}, kind{};  // id of a combination: its items in order, joined by "+"
  std::string recording{};   // where the prediction was made from; empty: it is not kept
  std::string repository{};  // owner/name@commit: those of one are one trial; empty: those of its recording are
  std::string machine{};     // "gpu", "cpu"; empty: counts for both
  double measured = 1;       // share of the step before
  StepShares model{};        // as the model said, without calibration
};

// Rows of a ledger file (CSV with a line of names: at least id, kind, measured_ratio, predicted_low,
// predicted_expected, predicted_high; repository and machine where it has them); those without a prediction or a
// measurement are left out. A fault names its line.
Result<std::vector<AdviceRow>> ParseLedger(std::string_view csv);
std::span<const AdviceRow> BuiltInLedger();

}  // namespace gapless::internal
