// SPDX-License-Identifier: Apache-2.0
// Other random numbers: steps cannot be the same, but they start from the same parameters, so the loss and the norm of
// the gradients must be the same on average. The baseline's own spread is seen with other seeds.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "validate/parity/checks.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinEvents = 5;
constexpr double kMaxNeeded = 1e9;  // steps

using Values = std::vector<std::optional<double>>;  // by event

Values LossesOf(const ParityRecording& run, size_t events) {
  Values values;
  for (size_t i = 0; i < events; ++i) values.push_back(i < run.events.size() ? LossOf(run.events[i]) : std::nullopt);
  return values;
}

Values NormsOf(const ParityRecording& run, size_t events) {
  Values values;
  for (size_t i = 0; i < events; ++i) {
    double squares = 0;
    if (i < run.events.size())
      for (const TensorPrint& print : run.events[i].gradients) squares += print.norm * print.norm;
    values.push_back(squares > 0 && std::isfinite(squares) ? std::optional(std::sqrt(squares)) : std::nullopt);
  }
  return values;
}

// Differences as shares: of logarithms where all values are positive, else of the mean size of the baseline's.
double SizeOf(const std::vector<Values>& runs) {
  double sum = 0;
  size_t count = 0;
  for (const Values& run : runs)
    for (const auto& value : run) {
      if (!value) continue;
      if (*value <= 0) sum = std::numeric_limits<double>::quiet_NaN();
      ++count;
    }
  if (!std::isnan(sum) || count == 0) return 0;
  sum = count = 0;
  for (const auto& value : runs[0])
    if (value) sum += std::abs(*value), ++count;
  return count > 0 ? std::max(sum / static_cast<double>(count), 1e-30) : 1;
}

struct Difference {
  double mean = 0, deviation = 0;
  size_t events = 0;
  double error() const { return deviation / std::sqrt(static_cast<double>(events)); }
};

// The candidate against the mean of the runs of the baseline, event by event.
Difference DifferenceOf(const std::vector<Values>& baselines, const Values& candidate) {
  std::vector<Values> all = baselines;
  all.push_back(candidate);
  const double size = SizeOf(all);
  const auto scaled = [&](double value) { return size > 0 ? value / size : std::log(value); };
  std::vector<double> apart;
  for (size_t i = 0; i < candidate.size(); ++i) {
    if (std::ranges::any_of(all, [&](const Values& run) { return !run[i].has_value(); })) continue;
    double others = 0;
    for (const Values& run : baselines) others += scaled(*run[i]);
    apart.push_back(scaled(*candidate[i]) - others / static_cast<double>(baselines.size()));
  }
  Difference found{.events = apart.size()};
  for (const double value : apart) found.mean += value / static_cast<double>(apart.size());
  for (const double value : apart) found.deviation += (value - found.mean) * (value - found.mean);
  if (apart.size() > 1) found.deviation = std::sqrt(found.deviation / static_cast<double>(apart.size() - 1));
  return found;
}

std::string Signed(double share) { return StrCat(share < 0 ? "-" : "+", FormatPercent(std::abs(share))); }

}  // namespace

ParityReport CheckDistribution(const ParityRecording& baseline, std::span<const ParityRecording> reseeded,
                               const ParityRecording& candidate, const OtherRandomness& other) {
  const size_t events = ComparableEvents(baseline, candidate);
  const std::string head = StrCat(other.what, " from step ", other.step, " on, compared as distributions: ");
  ParityReport report{
      .verdict = ParityVerdict::kSameDistribution, .step = other.step, .test = "distribution", .steps = events};
  std::string text;
  double needed = 0;
  const auto compare = [&](std::string_view name, Values (*values_of)(const ParityRecording&, size_t)) {
    std::vector<Values> baselines = {values_of(baseline, events)};
    for (const ParityRecording& run : reseeded) baselines.push_back(values_of(run, events));
    const Difference found = DifferenceOf(baselines, values_of(candidate, events));
    if (found.events < kMinEvents) return;
    const double error = found.error(), beyond = std::abs(found.mean) - kDifferentErrors * error;
    if (beyond > 0 && std::abs(found.mean) > kMinMean && report.verdict != ParityVerdict::kOtherTraining) {
      report.verdict = ParityVerdict::kOtherTraining;
      report.reason =
          StrCat("another training: with ", other.what, " from step ", other.step, " on, the ", name, " is ",
                 Signed(found.mean), " off on average, ± ", FormatPercent(kDifferentErrors * error));
      report.value = found.mean;
      report.limit = std::max(kDifferentErrors * error, kMinMean);
    }
    if (std::abs(found.mean) + kSameErrors * error > kMargin) {
      if (report.verdict == ParityVerdict::kSameDistribution) report.verdict = ParityVerdict::kCannotTell;
      needed = std::max(needed, std::ceil(std::pow(kNeededErrors * found.deviation / kMargin, 2)));
    }
    text += StrCat(text.empty() ? "" : ", ", name, " ", Signed(found.mean), " ± ", FormatPercent(kSameErrors * error));
  };
  compare("loss", LossesOf);
  compare("gradient norm", NormsOf);
  if (text.empty()) {
    report.verdict = ParityVerdict::kCannotTell;
    report.reason = StrCat("cannot tell: ", other.what, " from step ", other.step, " on, and fewer than ", kMinEvents,
                           " steps can be compared");
  } else if (report.verdict == ParityVerdict::kSameDistribution) {
    report.reason = StrCat(head, text, ", within ", FormatPercent(kMargin));
  } else if (report.verdict == ParityVerdict::kCannotTell) {
    const std::string steps = needed > static_cast<double>(events)
                                  ? StrCat("about ", FormatCount(static_cast<int64_t>(std::min(needed, kMaxNeeded))))
                                  : "more";
    report.reason = StrCat("cannot tell: ", head, text, "; a decision within ", FormatPercent(kMargin), " would take ",
                           steps, " steps");
  }
  return report;
}

}  // namespace gapless::internal
