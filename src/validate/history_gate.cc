// SPDX-License-Identifier: Apache-2.0
// Two questions are asked of the newest runs. Are they beyond what normal noise explains (gate_windows.cc)? And do
// several agree, whatever the noise is (agreement.h)? Runs that agree make a verdict. What is beyond the noise without
// enough runs that agree is a suspicion: a pending alarm.
//
// Values enter as logarithms, so that a change is a ratio and the noise of most timings is nearer to a normal
// distribution.
#include "validate/history_gate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/result.h"
#include "validate/gate_agreement.h"
#include "validate/gate_branch.h"
#include "validate/gate_windows.h"
#include "validate/noise_look.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

// Runs of a baseline that would show what one in twelve does: of 75 runs none is such a one with a chance of 0.2 %.
constexpr size_t kRunsToKnow = 75;
constexpr std::string_view kTooShort = "too few runs to learn the level and noise from";
constexpr std::string_view kTooFew = "too few runs agree";
constexpr std::string_view kWithinNoise = "it is worse by more than the threshold, and single runs vary as much";
constexpr std::string_view kSeenBefore =
    "single runs were as far off before, and fresh runs of one machine are too few";
constexpr std::string_view kFewPastRuns =
    "fresh runs are of one machine in one job, and with fewer than 75 past runs too few";
constexpr std::string_view kNewMachine = "this machine has fewer than five past runs, too few";

// The median of the fresh runs moved less than half as far as the alarm says, or by less than the effect.
bool DoFreshClear(GateVerdict& verdict, std::span<const double> fresh, const GateOptions& options) {
  std::vector<double> copy(fresh.begin(), fresh.end());
  const double moved = std::log(MedianInPlace(copy) / *verdict.level), seen = std::log1p(*verdict.change);
  const double least = seen > 0 ? std::log1p(options.effect) : std::log1p(-options.effect);
  if (moved / seen >= std::max(0.5, std::min(1.0, least / seen))) return false;
  verdict.kind = GateKind::kFine;
  verdict.cleared = true;
  verdict.change = std::expm1(moved);
  return true;
}

// None of the newest runs is of a machine that is known: what differs may be the machine.
bool AreOnNewMachines(const GateBranch& branch, size_t runs) {
  if (branch.use != MachineUse::kUnknown) return false;
  const auto levels = LevelsByMachine(branch, 0);
  const std::span<const uint32_t> machines(branch.machines);
  return std::ranges::none_of(machines.last(std::min(runs, machines.size())),
                              [&](uint32_t machine) { return machine == 0 || levels.contains(machine); });
}

void KeepPending(GateVerdict& verdict, GateKind kind, std::string_view reason) {
  verdict.kind = GateKind::kCannotTell;
  verdict.pending = kind;
  verdict.reason = reason;
}

// Makes a verdict of runs that agree, from the likeliest place of the change on. Of them the last `fresh` are not of
// the history.
void Conclude(GateVerdict& verdict, GateKind kind, const GateBranch& branch, const GateAgreement& agreement,
              size_t agreeing, size_t fresh, const GateOptions& options) {
  const size_t since = agreement.RunsSinceTheChange(agreeing, LeastDeviation(branch.values));
  Describe(verdict, branch, std::max<size_t>(1, since - std::min(since, fresh)), options);
  verdict.kind = kind;
  verdict.confirmed = fresh > 0;
  if (AreOnNewMachines(branch, verdict.window_runs)) KeepPending(verdict, kind, kNewMachine);
}

// Turns a suspicion into "fine" if fresh runs refute it, into a verdict if they may count and agree, else into a
// pending alarm. `agreement` is of the suspected direction.
void Settle(GateVerdict& verdict, const GateBranch& branch, GateAgreement agreement, std::span<const double> fresh,
            const GateOptions& options) {
  if (!fresh.empty() && DoFreshClear(verdict, fresh, options)) return;
  const GateKind kind = verdict.kind;
  const double turn = (kind == GateKind::kRegression ? 1 : -1) * SignOf(options);
  const double half_way = turn * std::log(*verdict.level) + 0.5 * std::fabs(std::log1p(*verdict.change));
  const bool is_known = branch.baseline().size() >= kRunsToKnow, seen = agreement.HasSeen(half_way);
  const bool may_confirm = !fresh.empty() && is_known && !seen && branch.use != MachineUse::kUnknown;
  if (may_confirm) {
    for (const double value : fresh) agreement.Add(turn * std::log(value));
    const auto runs = agreement.RunsWithFresh(fresh.size(), verdict.window_runs);
    if (runs) return Conclude(verdict, kind, branch, agreement, *runs, fresh.size(), options);
  }
  KeepPending(verdict, kind,
              branch.use == MachineUse::kUnknown ? kNewMachine
              : fresh.empty() || may_confirm     ? kTooFew
              : seen                             ? kSeenBefore
                                                 : kFewPastRuns);
  if (options.with_outlook) verdict.more_runs = agreement.MoreRuns();
}

// Worse than the baseline by more than the effect, as it stands.
bool IsWorse(const GateVerdict& verdict, const GateOptions& options) {
  return verdict.change && SignOf(options) * std::log1p(*verdict.change) >= std::log1p(options.effect);
}

void Decide(GateVerdict& verdict, const GateBranch& branch, const GateAgreement& worse, std::span<const double> fresh,
            const GateOptions& options) {
  const GateAgreement better = worse.Turned();
  if (const auto runs = worse.Runs()) return Conclude(verdict, GateKind::kRegression, branch, worse, *runs, 0, options);
  if (const auto runs = better.Runs())
    return Conclude(verdict, GateKind::kImprovement, branch, better, *runs, 0, options);
  if (verdict.IsAlarm())
    return Settle(verdict, branch, verdict.kind == GateKind::kRegression ? worse : better, fresh, options);
  if (!IsWorse(verdict, options)) return;
  verdict.kind = GateKind::kCannotTell;
  verdict.reason = kWithinNoise;
}

}  // namespace

Result<void> CheckGateValue(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return {};
  return Fail(ErrorCode::kInput,
              std::string(what) + " is not a positive number: a change has no size as a share of it");
}

Result<GateVerdict> JudgeAgainstHistory(std::span<const GateRun> history, double current, const GateOptions& options,
                                        std::span<const double> fresh) {
  GAPLESS_TRY(CheckGateValue(current, "the new value"));
  for (const GateRun& run : history) GAPLESS_TRY(CheckGateValue(run.value, "a value of the history"));
  for (const double value : fresh) GAPLESS_TRY(CheckGateValue(value, "a fresh value"));
  const GateBranch branch = BranchOf(history, current, options);
  GateVerdict verdict;
  verdict.current = current;
  verdict.machines = branch.use;
  verdict.left_out = branch.left_out;
  verdict.window_first = history.size();
  if (branch.IsTooShort()) {
    verdict.reason = kTooShort;
    verdict.false_alarms = SimulatedFalseAlarms(std::nullopt, 0, options.effect);
    return verdict;
  }
  verdict.look = LookOf(branch.baseline());
  verdict.false_alarms = SimulatedFalseAlarms(verdict.look, branch.baseline().size(), options.effect);
  TestWindows(verdict, branch, options);
  const GateAgreement agreement(branch, options);
  Decide(verdict, branch, agreement, fresh, options);
  if (!options.with_outlook) return verdict;
  verdict.runs_to_alarm = agreement.RunsToAlarm(verdict);
  if (verdict.look == NoiseLook::kTwoMachines) verdict.seen_within = agreement.SeenWithinTwelve();
  return verdict;
}

// The rule that most scripts have: so many per cent off the mean of the last runs.
Result<GateVerdict> NaiveGate(std::span<const GateRun> history, double current, const GateOptions& options,
                              size_t runs) {
  GAPLESS_TRY(CheckGateValue(current, "the new value"));
  GateVerdict verdict;
  verdict.current = current;
  if (runs == 0 || history.size() < runs) {
    verdict.reason = "fewer past runs than the mean is of";
    return verdict;
  }
  double mean = 0;
  for (const GateRun& run : history.last(runs)) {
    GAPLESS_TRY(CheckGateValue(run.value, "a value of the history"));
    mean += run.value / static_cast<double>(runs);
  }
  verdict.baseline_first = history.size() - runs;
  verdict.baseline_runs = runs;
  verdict.window_first = history.size();
  verdict.level = mean;
  verdict.change = current / mean - 1;
  const double worse = SignOf(options) * *verdict.change;
  verdict.kind = worse > options.effect    ? GateKind::kRegression
                 : worse < -options.effect ? GateKind::kImprovement
                                           : GateKind::kFine;
  return verdict;
}

}  // namespace gapless::internal
