// SPDX-License-Identifier: Apache-2.0
// Puts the tests of parity/checks.h in their order, and says which run is missing to decide.
#include "validate/parity.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "validate/parity/checks.h"

namespace gapless::internal {
namespace {

constexpr size_t kReseededRuns = 3;
constexpr double kFp32Unit = 0x1p-20, kHalfUnit = 0x1p-11, kBf16Unit = 0x1p-9;
constexpr double kInt8Unit = 0x1p-5;  // of weights with a scale for each row, most of which are far below its largest

ParityReport Needs(ParityNeed need, double noise = 0) {
  return {.need = need, .need_noise = noise, .reason = "cannot tell: a run is missing that would"};
}

// The coarsest precision that the program computes in by itself.
Precision OwnPrecision(const ParityRecording& baseline) {
  Precision own = Precision::kFp32;
  for (const ParityEvent& event : baseline.events) own = std::max(own, event.precision.value_or(Precision::kFp32));
  return own;
}

bool IsRecurrent(const ParityRecording& baseline) {
  return std::ranges::any_of(baseline.events, &ParityEvent::recurrent);
}

// The probes of this size, narrow and wide.
std::vector<const ParityRecording*> ProbesOf(const ParityBaseline& baseline, double noise) {
  std::vector<const ParityRecording*> found;
  for (const ParityRecording& probe : baseline.probes)
    if (probe.noise == noise) found.push_back(&probe);
  return found;
}

bool HasWide(const std::vector<const ParityRecording*>& probes) {
  return std::ranges::any_of(probes, [](const ParityRecording* probe) { return probe->wide; });
}

// The first step of a probe has no noise: where even that is not the baseline's, the command does not repeat itself.
bool MayNotRepeat(const ParityBaseline& baseline) {
  for (const ParityRecording& probe : baseline.probes) {
    if (probe.events.empty() || baseline.baseline.events.empty()) continue;
    const ParityEvent &was = baseline.baseline.events[0], &is = probe.events[0];
    if (was.losses != is.losses || (was.state && is.state && *was.state != *is.state)) return true;
  }
  return false;
}

bool IsSoft(const std::string& test) { return test == "typical" || test == "tensor" || test == "worst"; }

// Returns true if a probe with noise of the claim's own unit could still show that the difference is rounding. The
// probe's noise is larger than that unit, and its effect is scaled down in proportion. In a network with ReLU or
// maximum pooling this is too little: half the noise switches half as many units, and the norm of their differences
// shrinks by √2 only. So rounding exceeds the scaled effect by √(noise / unit) at most.
bool MaySwitch(const ParityReport& report, Precision precision) {
  const double noise = ProbeNoiseOf(precision), unit = UnitOf(precision);
  if (unit >= noise || (report.test != "typical" && report.test != "tensor")) return false;
  return report.value <= *report.limit * std::sqrt(noise / unit);
}

// Optimisers whose update cannot be checked, in words; empty: all were.
std::string UncheckedUpdates(const ParityRecording& baseline) {
  std::string names;
  for (const ParityEvent& event : baseline.events) {
    const bool off = event.shadow && std::ranges::any_of(*event.shadow, [](double residual) {
                       return !(residual <= kMaxUpdateResidual);
                     });
    if (event.skipped || (event.shadow && !off) || names.find(event.optimizer_class) != names.npos) continue;
    names += StrCat(names.empty() ? "" : " and ", event.optimizer_class);
  }
  return names.empty() ? "" : StrCat("; the update of ", names, " cannot be checked");
}

ParityReport Exact(const ParityRecording& baseline) {
  return {.verdict = ParityVerdict::kExact,
          .reason = StrCat("the same, bit for bit, over ",
                           FormatCounted(static_cast<int64_t>(baseline.events.size()), "step")),
          .test = "exact",
          .steps = baseline.events.size()};
}

bool IsByHand(const ParityRecording& baseline) { return std::ranges::any_of(baseline.events, &ParityEvent::by_hand); }

// Compares trainings whose parameters were not handed over, because the program updates them by hand: rounding makes
// such runs drift apart, so that only equality can be recognised.
ParityReport ComparedByHand(const ParityRecording& baseline, const ParityRecording& candidate) {
  if (IsExact(baseline, candidate)) return Exact(baseline);
  ParityReport report{.reason =
                          "cannot tell: the program updates its parameters by hand, so only a training that is "
                          "the same bit for bit can be recognised",
                      .steps = std::min(baseline.events.size(), candidate.events.size())};
  for (size_t i = 0; i < report.steps && !report.step; ++i)
    if (baseline.events[i].state != candidate.events[i].state ||
        baseline.events[i].losses != candidate.events[i].losses)
      report.step = i + 1;
  if (report.step) report.reason += StrCat("; this one differs from step ", *report.step, " on");
  return report;
}

ParityReport Rounded(const ParityBaseline& all, const ParityRecording& candidate, Precision precision, bool exact) {
  const double noise = ProbeNoiseOf(precision);
  auto probes = ProbesOf(all, noise);
  if (probes.empty()) return Needs(ParityNeed::kProbe, noise);
  const auto near =
      noise == UnitOf(precision) ? std::vector<const ParityRecording*>() : ProbesOf(all, UnitOf(precision));
  probes.insert(probes.end(), near.begin(), near.end());
  const bool unsteady = MayNotRepeat(all);
  const ParityRecording* const repeat = all.repeat ? &*all.repeat : nullptr;
  ParityReport report = CheckRounding(all.baseline, probes, repeat, candidate, precision);
  if (report.verdict != ParityVerdict::kOtherTraining && !exact) return report;
  if (unsteady && repeat == nullptr) return Needs(ParityNeed::kRepeat);
  report.repeats = repeat == nullptr || IsExact(all.baseline, *repeat);
  if (report.verdict == ParityVerdict::kOtherTraining && near.empty() && MaySwitch(report, precision))
    return Needs(ParityNeed::kProbe, UnitOf(precision));
  const bool wider = IsSoft(report.test) && precision > Precision::kFp32 && IsRecurrent(all.baseline);
  if (report.verdict == ParityVerdict::kOtherTraining && wider && !HasWide(probes))
    return Needs(ParityNeed::kWideProbe, noise);
  if (!report.repeats) report.reason += "; the command as it is does not repeat itself bit for bit either";
  return report;
}

// The decision by steps alone.
ParityReport DecideBySteps(const ParityBaseline& all, const ParityRecording& candidate, Precision precision,
                           bool exact) {
  const ParityRecording& baseline = all.baseline;
  if (baseline.events.empty()) return {.reason = "cannot tell: no optimiser step of the command as it is was recorded"};
  if (candidate.events.empty()) return {.reason = "cannot tell: no optimiser step of the changed command was recorded"};
  precision = std::max(precision, OwnPrecision(baseline));
  if (auto report = CheckHard(baseline, candidate, precision)) {
    report->steps = candidate.events.size();
    return *report;
  }
  if (IsByHand(baseline)) return ComparedByHand(baseline, candidate);
  const std::string unchecked = UncheckedUpdates(baseline);
  if (const auto other = FindOtherRandomness(baseline, candidate)) {
    if (all.reseeded.size() < kReseededRuns) return Needs(ParityNeed::kReseeded);
    ParityReport report = CheckDistribution(baseline, all.reseeded, candidate, *other);
    report.reason += unchecked;
    return report;
  }
  if (IsExact(baseline, candidate)) return Exact(baseline);
  ParityReport report = Rounded(all, candidate, precision, exact);
  if (report.verdict == ParityVerdict::kRounding)
    report.reason += unchecked.empty() ? "; updates are as the optimiser's settings say" : unchecked;
  return report;
}

}  // namespace

std::string_view NameOf(Precision precision) {
  constexpr std::string_view kNames[] = {"fp32", "tf32", "fp16", "bf16", "int8"};
  return kNames[static_cast<size_t>(precision)];
}

std::optional<Precision> PrecisionNamed(std::string_view name) {
  for (const auto precision :
       {Precision::kFp32, Precision::kTf32, Precision::kFp16, Precision::kBf16, Precision::kInt8})
    if (NameOf(precision) == name) return precision;
  return std::nullopt;
}

double UnitOf(Precision precision) {
  if (precision == Precision::kFp32) return kFp32Unit;
  if (precision == Precision::kInt8) return kInt8Unit;
  return precision == Precision::kBf16 ? kBf16Unit : kHalfUnit;
}

double ProbeNoiseOf(Precision precision) {
  if (precision == Precision::kInt8) return kInt8Unit;
  return precision == Precision::kBf16 ? kBf16Unit : kHalfUnit;
}

std::string_view NameOf(ParityVerdict verdict) {
  constexpr std::string_view kNames[] = {"exact", "rounding", "same_distribution", "other_training", "cannot_tell"};
  return kNames[static_cast<size_t>(verdict)];
}

std::optional<Safety> SafetyNamed(std::string_view name) {
  for (const Safety safety : {Safety::kExact, Safety::kRounding, Safety::kStochastic, Safety::kTraining})
    if (ToString(safety) == name) return safety;
  return std::nullopt;
}

bool IsSameTraining(const ParityReport& report) { return report.verdict <= ParityVerdict::kSameDistribution; }

bool IsAllowed(const ParityReport& report, Safety allowed) {
  switch (report.verdict) {
    case ParityVerdict::kExact: return true;
    case ParityVerdict::kRounding: return allowed >= Safety::kRounding || !report.repeats;
    case ParityVerdict::kSameDistribution: return allowed >= Safety::kStochastic;
    case ParityVerdict::kOtherTraining: return allowed == Safety::kTraining;
    case ParityVerdict::kCannotTell: break;
  }
  return allowed != Safety::kExact;
}

ParityReport DecideParity(const ParityBaseline& all, const ParityRecording& candidate, Precision precision,
                          bool exact) {
  ParityReport report = DecideBySteps(all, candidate, precision, exact);
  if (report.need == ParityNeed::kNothing)
    WeighProgram(CompareProgram(all.baseline.program, candidate.program), report);
  return report;
}

ParityReport FindParity(const ParityBaseline& baseline, const ParityRecording& candidate) {
  const Precision own = OwnPrecision(candidate);
  std::vector<Precision> claims = {Precision::kFp32, own == Precision::kFp16 ? Precision::kFp16 : Precision::kTf32,
                                   Precision::kBf16};
  ParityReport report;
  for (const Precision claim : claims) {
    report = DecideParity(baseline, candidate, claim);
    const bool about_rounding = IsSoft(report.test) || report.test == "scale" || report.test == "buffers" ||
                                report.test == "loss" || report.test == "skipped";
    if (report.verdict != ParityVerdict::kOtherTraining || !about_rounding) return report;
  }
  return report;
}

}  // namespace gapless::internal
