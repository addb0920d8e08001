// SPDX-License-Identifier: Apache-2.0
// The model of a fix says what a step would take with it: it changes how long the edges of a graph take. An item of
// `gapless predict --what` is a what-if: the name of a fix that has a model, and a value.
//
// Several are applied one after the other to the same times, so that each sees what those before it left; then the
// whole is replayed once. Gains are never added or multiplied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/result.h"
#include "predict/edge_times.h"

namespace gapless::internal {

// The saving of a fix is not known exactly: each model gives a low, an expected and a high value.
enum class Estimate : uint8_t { kPessimistic, kExpected, kOptimistic };
inline double ValueFor(Estimate estimate, double pessimistic, double expected, double optimistic) {
  return estimate == Estimate::kPessimistic ? pessimistic : estimate == Estimate::kExpected ? expected : optimistic;
}

struct WhatIfInput {
  const RunTrace& of;
  Tables& tables;
  const Trace& trace() const { return *of.trace; }
  // Values that follow from the trace alone, computed once for all models.
  template <class T>
  const T& Once(T (*make)(const Trace&)) const {
    return tables.Once(trace(), make);
  }
};

// `name`, `name=value`, `name:selector=value`.
struct WhatIfItem {
  std::string name{}, selector{}, value{};
  std::string ToString() const;
  // The value as a factor above zero.
  Result<double> Factor() const;
  // As a whole number from 1 on; absent: none was given.
  Result<std::optional<int64_t>> Count() const;
};
// Items separated by commas, a comma of an item as "\\,"; a selector ends at the last "=".
Result<std::vector<WhatIfItem>> ParseItems(std::string_view text);

struct WhatIfEffect {
  std::vector<std::string> assumptions{};  // sentences; the same for every case
  std::string refusal{};                   // why nothing can be said of it in this recording
  std::string nothing{};                   // why it has no effect here: the step stays as it is
  double samples_factor = 1;  // work of a step as a multiple of the recorded step's; its time counts per work
};

// Says how much faster a step gets. A fix without one can only be tried.
struct FixModel {
  std::string_view value{};  // value in `--what name=VALUE`; "": takes none; "[N]": may be left out
  std::string_view why{};    // one paragraph: what the model changes, how much, and the source of that
  // An error: the value cannot be read. Null: there is no model.
  Result<WhatIfEffect> (*apply)(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate,
                                EdgeTimes& times) = nullptr;

  bool needs_value() const { return !value.empty() && !value.starts_with('['); }
};

}  // namespace gapless::internal
