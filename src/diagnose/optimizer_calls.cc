// SPDX-License-Identifier: Apache-2.0
#include "diagnose/optimizer_calls.h"

#include "analyses/rows/optimizer_steps.h"

namespace gapless::internal {
namespace {

constexpr OptimizerStepsRows::TextColumn kKey[] = {"name", "source_line"};

int64_t IdleOf(const OptimizerStepsRows& steps, size_t row, const LedgerView& ledger) {
  return steps.Int(row, "idle_ns") * ledger.DevicesOf(steps.Int(row, "trace"));
}

}  // namespace

OptimizerCalls CollectOptimizerCalls(const OptimizerStepsRows& steps, const LedgerView& ledger,
                                     const std::function<bool(size_t row)>& counts) {
  OptimizerCalls calls;
  calls.places = GroupRows(steps, kKey, [&](size_t row) {
    return counts(row) ? IdleOf(steps, row, ledger) + steps.Int(row, "device_ns") : 0;
  });
  for (const RowGroup& place : calls.places) {
    calls.device_ns += SumOver(steps, place, "device_ns");
    for (const size_t row : place.rows) calls.idle_ns += IdleOf(steps, row, ledger);
  }
  return calls;
}

std::string OptimizerIn(std::string_view name) {
  const size_t from = name.find('#'), to = name.rfind('.');
  if (from == name.npos || to == name.npos || to <= from) return std::string(name);
  return std::string(name.substr(from + 1, to - from - 1));
}

}  // namespace gapless::internal
