// SPDX-License-Identifier: Apache-2.0
// Other random numbers: steps cannot be the same, but they start from the same parameters, so the loss and the norm of
// the gradients must be the same on average. The baseline's own spread is seen with other seeds. What does not vary
// there, such as the norm of gradients that are always clipped, shows nothing, and is left out. Inputs are only held
// against clear differences: their spread from batch to batch says nothing of what matters.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "validate/parity/checks.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinEvents = 5;
constexpr double kMaxNeeded = 1e9;   // steps
constexpr double kConstant = 1e-4;   // relative difference of seeds, below which a statistic does not vary
constexpr double kNineOfTen = 1.28;  // standard errors from the limit at which nine of ten values are beyond it
constexpr double kInputErrors = 4, kMinInput = 0.02;

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

// Mean, deviation and roughness of the inputs: the mean in deviations of the baseline's first batch.
Values InputsOf(const ParityRecording& run, size_t events, size_t which, double unit) {
  Values values;
  for (size_t i = 0; i < events; ++i) {
    const bool has = i < run.events.size() && which < run.events[i].inputs.size();
    values.push_back(has ? std::optional(run.events[i].inputs[which] / unit) : std::nullopt);
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

// The candidate against the mean of the runs of the baseline, event by event. `size`: what values are a share of; 0:
// differences of their logarithms.
Difference DifferenceOf(const std::vector<Values>& baselines, const Values& candidate, double size) {
  std::vector<Values> all = baselines;
  all.push_back(candidate);
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

// Returns true if the runs differ from each other in any step: a constant shows nothing.
bool Vary(const std::vector<Values>& runs) {
  for (size_t i = 0; i < runs[0].size(); ++i)
    for (const Values& run : runs)
      if (run[i] && runs[0][i] &&
          std::abs(*run[i] - *runs[0][i]) > kConstant * std::max(std::abs(*run[i]), std::abs(*runs[0][i])))
        return true;
  return false;
}

std::string Signed(double share) { return StrCat(share < 0 ? "-" : "+", FormatPercent(std::abs(share))); }

// The comparison of one candidate, a statistic at a time.
class Distribution {
 public:
  Distribution(const ParityRecording& baseline, std::span<const ParityRecording> reseeded,
               const ParityRecording& candidate, const OtherRandomness& other)
      : baseline_(baseline), reseeded_(reseeded), candidate_(candidate), other_(other) {}

  ParityReport Check() {
    Compare("loss", LossesOf);
    Compare("gradient norm", NormsOf);
    CompareInputs();
    Conclude();
    return std::move(report_);
  }

 private:
  template <class ValuesOf>
  std::optional<Difference> Find(const ValuesOf& values_of, std::optional<double> size = std::nullopt) const {
    std::vector<Values> baselines = {values_of(baseline_, events_)};
    for (const ParityRecording& run : reseeded_) baselines.push_back(values_of(run, events_));
    const Values candidate = values_of(candidate_, events_);
    std::vector<Values> all = baselines;
    all.push_back(candidate);
    if (!Vary(all)) return std::nullopt;
    const Difference found = DifferenceOf(baselines, candidate, size.value_or(SizeOf(all)));
    return found.events < kMinEvents ? std::nullopt : std::optional(found);
  }

  // Refuses a difference of more than `errors` standard errors and a share of `least`.
  void RefuseIfApart(std::string_view name, const Difference& found, double errors, double least) {
    const double limit = std::max(errors * found.error(), least);
    if (std::abs(found.mean) <= limit || report_.verdict == ParityVerdict::kOtherTraining) return;
    report_.verdict = ParityVerdict::kOtherTraining;
    report_.reason = StrCat("another training: with ", other_.what, " from step ", other_.step, " on, the ", name,
                            " is ", Signed(found.mean), " off on average, ± ", FormatPercent(errors * found.error()));
    report_.value = found.mean;
    report_.limit = limit;
  }

  template <class ValuesOf>
  void Compare(std::string_view name, const ValuesOf& values_of) {
    const auto found = Find(values_of);
    if (!found) {
      left_out_ += StrCat(left_out_.empty() ? "the " : " and the ", name);
      return;
    }
    const double error = found->error();
    RefuseIfApart(name, *found, kDifferentErrors, kMinMean);
    if (std::abs(found->mean) + kSameErrors * error > kMargin) {
      if (report_.verdict == ParityVerdict::kSameDistribution) report_.verdict = ParityVerdict::kCannotTell;
      needed_ = std::max(needed_, std::ceil(std::pow(kNeededErrors * found->deviation / kMargin, 2)));
    }
    const double seen_from = std::max((kDifferentErrors + kNineOfTen) * error, kMinMean);
    report_.seen_from = std::max(report_.seen_from.value_or(0), seen_from);
    text_ +=
        StrCat(text_.empty() ? "" : ", ", name, " ", Signed(found->mean), " ± ", FormatPercent(kSameErrors * error));
  }

  void CompareInputs() {
    if (baseline_.events.empty() || baseline_.events[0].inputs.size() < 2) return;
    const double unit = std::max(std::abs(baseline_.events[0].inputs[1]), 1e-30);
    constexpr std::string_view kNames[] = {"mean of the inputs, in standard deviations,",
                                           "standard deviation of the inputs", "roughness of the inputs"};
    for (size_t which = 0; which < std::size(kNames); ++which) {
      const bool is_mean = which == 0;
      const auto values_of = [&](const ParityRecording& run, size_t events) {
        return InputsOf(run, events, which, is_mean ? unit : 1);
      };
      const auto found = Find(values_of, is_mean ? std::optional(1.0) : std::nullopt);
      if (found) RefuseIfApart(kNames[which], *found, kInputErrors, kMinInput);
    }
  }

  void Conclude() {
    const std::string head = StrCat(other_.what, " from step ", other_.step, " on, compared as distributions: ", text_);
    const std::string unseen = left_out_.empty() ? "" : StrCat("; ", left_out_, " cannot be compared");
    if (text_.empty() && report_.verdict == ParityVerdict::kSameDistribution) {
      report_.verdict = ParityVerdict::kCannotTell;
      report_.reason = StrCat("cannot tell: ", other_.what, " from step ", other_.step, " on", unseen,
                              ": it does not vary, or fewer than ", kMinEvents, " steps have it");
    } else if (report_.verdict == ParityVerdict::kSameDistribution) {
      report_.reason = StrCat(head, ", within ", FormatPercent(kMargin), Seen(), unseen);
    } else if (report_.verdict == ParityVerdict::kCannotTell) {
      const std::string steps = needed_ > static_cast<double>(events_)
                                    ? StrCat("about ", FormatCount(static_cast<int64_t>(std::min(needed_, kMaxNeeded))))
                                    : "more";
      report_.reason = StrCat("cannot tell: ", head, Seen(), unseen, "; a decision within ", FormatPercent(kMargin),
                              " would take ", steps, " steps");
    }
  }

  std::string Seen() const {
    return StrCat(" (of ", FormatPercent(*report_.seen_from), ", nine of ten comparisons would see it)");
  }

  const ParityRecording& baseline_;
  std::span<const ParityRecording> reseeded_;
  const ParityRecording& candidate_;
  const OtherRandomness& other_;
  size_t events_ = ComparableEvents(baseline_, candidate_);
  ParityReport report_{
      .verdict = ParityVerdict::kSameDistribution, .step = other_.step, .test = "distribution", .steps = events_};
  std::string text_{}, left_out_{};
  double needed_ = 0;
};

}  // namespace

ParityReport CheckDistribution(const ParityRecording& baseline, std::span<const ParityRecording> reseeded,
                               const ParityRecording& candidate, const OtherRandomness& other) {
  return Distribution(baseline, reseeded, candidate, other).Check();
}

}  // namespace gapless::internal
