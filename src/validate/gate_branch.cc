// SPDX-License-Identifier: Apache-2.0
// Machines differ by more than a slowdown that matters. Where the runs name theirs, the difference of the medians of
// two machines is taken off, so that all runs are at the level of the machine of the current one: the machine is a
// factor of the model. A machine with fewer than five runs has no level to compare with, and its runs are left out.
#include "validate/gate_branch.h"

#include <algorithm>
#include <cmath>

#include "validate/change_points.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kLeastOfMachine = 5;

// The index after the last run that is not suspect.
size_t EndOfLearned(std::span<const GateRun> history, size_t begin) {
  size_t end = history.size();
  const auto frozen = [&](GateMark mark) {
    return mark == GateMark::kPending || mark == GateMark::kConfirmed || mark == GateMark::kCleared;
  };
  while (end > begin && frozen(history[end - 1].mark)) --end;
  return end;
}

// Takes off what the machines differ by from the one of the last run; those without a level keep their values.
void TakeOff(GateBranch& branch, const std::map<uint32_t, double>& levels) {
  const auto own = levels.find(branch.machines.back());
  if (own == levels.end()) return;
  for (size_t i = 0; i < branch.values.size(); ++i)
    if (const auto level = levels.find(branch.machines[i]); level != levels.end())
      branch.values[i] -= level->second - own->second;
}

// Leaves out the runs of machines without a level.
void KeepKnown(GateBranch& branch, const std::map<uint32_t, double>& levels) {
  size_t kept = 0, learned = 0;
  for (size_t i = 0; i < branch.values.size(); ++i) {
    if (!levels.contains(branch.machines[i])) continue;
    branch.values[kept] = branch.values[i];
    branch.at[kept] = branch.at[i];
    branch.machines[kept] = branch.machines[i];
    learned += i < branch.learned ? 1 : 0;
    ++kept;
  }
  branch.left_out = branch.values.size() - kept;
  branch.values.resize(kept);
  branch.at.resize(kept);
  branch.machines.resize(kept);
  branch.learned = learned;
}

void CompareByMachine(GateBranch& branch) {
  const std::map<uint32_t, double> levels = LevelsByMachine(branch, 0);
  if (levels.empty() || branch.machines.back() == 0) return;
  branch.use = levels.contains(branch.machines.back()) ? MachineUse::kByName : MachineUse::kUnknown;
  if (branch.use == MachineUse::kUnknown) return;
  KeepKnown(branch, levels);
  TakeOff(branch, levels);
}

// All runs since the last change point, but at least the last `least`.
size_t LastChange(std::span<const double> values, size_t least) {
  ChangePointOptions options;
  options.min_relative = 0;
  size_t first = 0;
  for (const ChangePoint& change : FindChangePoints(values, options))
    if (change.index + least <= values.size()) first = change.index;
  return first;
}

}  // namespace

double SignOf(const GateOptions& options) { return options.higher_is_better ? -1 : 1; }
size_t LeastBaseline(const GateOptions& options) { return std::max<size_t>(options.min_baseline, 3); }

std::map<uint32_t, double> LevelsByMachine(const GateBranch& branch, size_t begin) {
  std::map<uint32_t, std::vector<double>> values;
  for (size_t i = begin; i < branch.learned; ++i)
    if (branch.machines[i] != 0) values[branch.machines[i]].push_back(branch.values[i]);
  std::map<uint32_t, double> levels;
  for (auto& [machine, of_machine] : values)
    if (of_machine.size() >= kLeastOfMachine) levels[machine] = MedianInPlace(of_machine);
  return levels;
}

GateBranch BranchOf(std::span<const GateRun> history, double current, const GateOptions& options) {
  GateBranch branch;
  branch.least = LeastBaseline(options);
  size_t begin = 0;
  for (size_t i = 0; i < history.size(); ++i)
    if (history[i].mark == GateMark::kAccepted) begin = i;
  const size_t end = EndOfLearned(history, begin);
  const auto add = [&](double value, size_t at, uint32_t machine) {
    branch.values.push_back(SignOf(options) * std::log(value));
    branch.at.push_back(at);
    branch.machines.push_back(machine);
  };
  for (size_t i = begin; i < history.size(); ++i) {
    if (i == end) branch.learned = branch.values.size();
    if (i < end && history[i].mark == GateMark::kConfirmed) continue;  // a slowdown that was mended
    add(history[i].value, i, history[i].machine);
  }
  if (end == history.size()) branch.learned = branch.values.size();
  add(current, history.size(), options.machine);
  CompareByMachine(branch);
  if (branch.IsTooShort()) return branch;
  branch.start = LastChange(std::span(branch.values).first(branch.learned), branch.least);
  if (branch.use == MachineUse::kByName && branch.start > 0) TakeOff(branch, LevelsByMachine(branch, branch.start));
  return branch;
}

}  // namespace gapless::internal
