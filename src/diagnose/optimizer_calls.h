// SPDX-License-Identifier: Apache-2.0
// Rows of table optimizer_steps that a rule reports, over all ranks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/rows/optimizer_steps.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "trace/table.h"

namespace gapless::internal {

struct OptimizerCalls {
  int64_t idle_ns = 0, device_ns = 0;  // over all devices
  std::vector<RowGroup> places;        // by annotation and line, those that take most first
  int64_t stake() const { return idle_ns + device_ns; }
};

// The rows of `steps` that `counts` says yes to.
OptimizerCalls CollectOptimizerCalls(const OptimizerStepsRows& steps, const LedgerView& ledger,
                                     const std::function<bool(size_t row)>& counts);

// "Optimizer.step#SGD.step" → "SGD".
std::string OptimizerIn(std::string_view name);

}  // namespace gapless::internal
