// SPDX-License-Identifier: Apache-2.0
// The runs of a branch as the history gate compares them: those that may be learned from, those that are suspect, each
// as a logarithm in which larger is worse, and all at the level of the machine of the current run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "validate/history_gate.h"

namespace gapless::internal {

struct GateBranch {
  std::vector<double> values{};      // the last one is the current run
  std::vector<size_t> at{};          // index in the history of each; of the current run, the history's size
  std::vector<uint32_t> machines{};  // machine of each; 0: not known
  size_t learned = 0;                // values[0, learned) may be learned from; the rest is suspect
  size_t start = 0;                  // the first of them since the last change of level
  MachineUse use = MachineUse::kNone;
  size_t left_out = 0;  // runs of machines that have too few

  size_t least = 0;  // runs that a baseline needs
  bool IsTooShort() const { return learned < least; }
  std::span<const double> baseline() const { return std::span(values).subspan(start, learned - start); }
};

// 1, or -1 where more is better.
double SignOf(const GateOptions& options);
// Runs that a baseline needs.
size_t LeastBaseline(const GateOptions& options);

// Sorts the runs: what is before an accepted level, and past regressions that were mended, is left out.
GateBranch BranchOf(std::span<const GateRun> history, double current, const GateOptions& options);

// Medians of the machines that have five runs at least among the values from `begin` on that may be learned from.
std::map<uint32_t, double> LevelsByMachine(const GateBranch& branch, size_t begin);

}  // namespace gapless::internal
