// SPDX-License-Identifier: Apache-2.0
// Implements the tests that need no statistics: optimiser settings, values that are not finite, and updates that do not
// follow the optimiser.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/strings.h"
#include "validate/parity/checks.h"

namespace gapless::internal {
namespace {

ParityReport Other(std::string test, size_t step, std::string what) {
  return {.verdict = ParityVerdict::kOtherTraining,
          .reason = StrCat("another training: ", what),
          .step = step,
          .test = std::move(test)};
}

bool IsFinite(const TensorPrint& print) {
  return std::isfinite(print.norm) && std::ranges::all_of(print.sketch, [](double sum) { return std::isfinite(sum); });
}

bool HasFiniteGradients(const ParityEvent& event) {
  return event.finite && std::ranges::all_of(event.gradients, [](const TensorPrint& print) { return IsFinite(print); });
}

bool HasFiniteLosses(const ParityEvent& event) {
  return std::ranges::all_of(event.losses, [](const auto& loss) { return loss && std::isfinite(*loss); });
}

// "lr is 0.0022 instead of 0.002"; empty: no setting differs.
std::string DifferentSetting(const ParityEvent& baseline, const ParityEvent& candidate) {
  if (baseline.settings.size() != candidate.settings.size())
    return StrCat("has ", candidate.settings.size(), " parameter groups instead of ", baseline.settings.size());
  for (size_t group = 0; group < baseline.settings.size(); ++group) {
    const auto &was = baseline.settings[group], &is = candidate.settings[group];
    const std::string where = baseline.settings.size() > 1 ? StrCat(" in parameter group ", group + 1) : "";
    for (const auto& [name, value] : was) {
      const auto found = is.find(name);
      if (found == is.end()) return StrCat("has no ", name, where, " instead of ", value);
      if (found->second != value) return StrCat("has ", name, " ", found->second, " instead of ", value, where);
    }
    for (const auto& [name, value] : is)
      if (!was.contains(name)) return StrCat("has ", name, " ", value, where, ", which it had not");
  }
  return "";
}

std::optional<ParityReport> CheckGradients(const ParityRecording& baseline, const ParityEvent& was,
                                           const ParityEvent& is, size_t step) {
  if (was.gradients.size() != is.gradients.size())
    return Other("tensors", step,
                 StrCat(is.optimizer_class, " steps ", is.gradients.size(), " tensors instead of ",
                        was.gradients.size(), " in step ", step));
  if (was.missing == is.missing) return std::nullopt;
  for (size_t index = 0; index < was.gradients.size(); ++index) {
    const bool had = !std::ranges::binary_search(was.missing, index),
               has = !std::ranges::binary_search(is.missing, index);
    if (had == has) continue;
    auto report = Other("missing", step,
                        StrCat(TensorName(baseline, was.optimizer, index), has ? " has a" : " has no",
                               " gradient in step ", step, has ? ", and had none" : ", and had one"));
    report.tensor = TensorName(baseline, was.optimizer, index);
    return report;
  }
  return std::nullopt;
}

// The tensors whose update the optimiser's shadow cannot follow even in the baseline: it does not work element by
// element.
bool FollowsShadow(const ParityRecording& baseline, size_t optimizer, size_t index) {
  return std::ranges::all_of(baseline.events, [&](const ParityEvent& event) {
    return event.optimizer != optimizer || !event.shadow || index >= event.shadow->size() ||
           (*event.shadow)[index] <= kMaxUpdateResidual;
  });
}

std::optional<ParityReport> CheckUpdate(const ParityRecording& baseline, const ParityEvent& was, const ParityEvent& is,
                                        size_t step) {
  if (!is.shadow || !was.shadow) return std::nullopt;
  size_t worst = SIZE_MAX;
  for (size_t index = 0; index < is.shadow->size(); ++index) {
    const bool off = !((*is.shadow)[index] <= kMaxUpdateResidual);
    const bool worse = worst == SIZE_MAX || (*is.shadow)[index] > (*is.shadow)[worst];
    if (off && worse && FollowsShadow(baseline, was.optimizer, index)) worst = index;
  }
  if (worst == SIZE_MAX) return std::nullopt;
  const std::string tensor = TensorName(baseline, was.optimizer, worst);
  const double residual = (*is.shadow)[worst];  // beyond measure where the optimiser would not have moved it
  auto report = Other("update", step,
                      StrCat("the update of ", tensor, " in step ", step, " is ",
                             residual < 100 ? StrCat(FormatShare(residual), " ") : "", "off what ", is.optimizer_class,
                             " makes of this gradient"));
  report.tensor = tensor;
  report.value = (*is.shadow)[worst];
  report.limit = kMaxUpdateResidual;
  return report;
}

// Returns the first step that draws the random numbers of an earlier step once more, or takes its samples once more.
// `baseline` knows which steps draw: generators that are seeded anew in each step look as if they had not moved.
std::optional<size_t> FirstRepeat(const ParityRecording& recording, const ParityRecording& baseline,
                                  std::optional<uint32_t> ParityEvent::*code) {
  std::set<uint32_t> known;
  for (size_t i = 0; i < recording.events.size(); ++i) {
    const ParityEvent& event = recording.events[i];
    const bool draws = event.draws || (i < baseline.events.size() && baseline.events[i].draws);
    const bool counts = event.*code && !event.skipped && (code != &ParityEvent::random || draws);
    if (counts && !known.insert(*(event.*code)).second) return i;
  }
  return std::nullopt;
}

std::optional<ParityReport> CheckRepeats(const ParityRecording& baseline, const ParityRecording& candidate) {
  for (const auto code : {&ParityEvent::random, &ParityEvent::rows}) {
    const auto step = FirstRepeat(candidate, baseline, code);
    if (!step || FirstRepeat(baseline, baseline, code)) continue;
    const bool is_random = code == &ParityEvent::random;
    return Other("repeats", *step + 1,
                 StrCat("step ", *step + 1, is_random ? " draws the random numbers" : " has the samples",
                        " of an earlier step once more"));
  }
  return std::nullopt;
}

std::optional<ParityReport> CheckStep(const ParityRecording& baseline, const ParityEvent& was, const ParityEvent& is,
                                      size_t step) {
  if (HasFiniteLosses(was) && !HasFiniteLosses(is))
    return Other("finite", step, StrCat("the loss is not finite in step ", step));
  if (HasFiniteGradients(was) && !HasFiniteGradients(is))
    return Other("finite", step, StrCat("a gradient is not finite in step ", step));
  if (was.optimizer != is.optimizer || was.optimizer_class != is.optimizer_class)
    return Other("optimizer", step,
                 StrCat(is.optimizer_class, " steps instead of ", was.optimizer_class, " in step ", step));
  if (const std::string setting = DifferentSetting(was, is); !setting.empty())
    return Other("settings", step, StrCat(is.optimizer_class, " ", setting, ", from step ", step, " on"));
  if (was.samples && is.samples && *was.samples != *is.samples)
    return Other("samples", step, StrCat("step ", step, " has ", *is.samples, " samples instead of ", *was.samples));
  if (auto report = CheckGradients(baseline, was, is, step)) return report;
  return CheckUpdate(baseline, was, is, step);
}

// Initialisations that sum in another order, such as orthogonal_ with another number of threads, differ by about 1e-6
// of a tensor; other seeds by about as much as the tensor itself.
constexpr double kCloseStart = 1e-4;

bool HaveCloseStarts(const ParityEvent& was, const ParityEvent& is) {
  if (was.starts.empty() || was.starts.size() != is.starts.size()) return false;
  for (size_t i = 0; i < was.starts.size(); ++i)
    if (!(Distance(was.starts[i], is.starts[i]) <= kCloseStart * was.starts[i].norm)) return false;
  return true;
}

}  // namespace

double Distance(const TensorPrint& a, const TensorPrint& b) {
  double sum = 0;
  for (size_t i = 0; i < kSketchWidth; ++i) sum += (a.sketch[i] - b.sketch[i]) * (a.sketch[i] - b.sketch[i]);
  return std::sqrt(sum);
}

std::string TensorName(const ParityRecording& baseline, size_t optimizer, size_t index) {
  for (const ParityEvent& event : baseline.events)
    if (event.optimizer == optimizer && index < event.names.size()) return event.names[index];
  return StrCat("tensor ", index);
}

std::string BufferName(const ParityRecording& baseline, size_t optimizer, size_t index) {
  for (const ParityEvent& event : baseline.events)
    if (event.optimizer == optimizer && index < event.buffer_names.size()) return event.buffer_names[index];
  return StrCat("buffer ", index);
}

std::string FormatShare(double share) { return StrCat(FormatDigits(100 * share, 2), " %"); }

std::optional<double> LossOf(const ParityEvent& event) {
  double sum = 0;
  for (const auto& loss : event.losses) {
    if (!loss || !std::isfinite(*loss)) return std::nullopt;
    sum += *loss;
  }
  return event.losses.empty() ? std::nullopt : std::optional(sum);
}

std::optional<ParityReport> CheckHard(const ParityRecording& baseline, const ParityRecording& candidate,
                                      Precision precision) {
  size_t skipped = 0;
  for (size_t i = 0; i < std::min(baseline.events.size(), candidate.events.size()); ++i) {
    const ParityEvent &was = baseline.events[i], &is = candidate.events[i];
    if (is.skipped != was.skipped) {
      const bool settles =
          precision == Precision::kFp16 && is.skipped && HasFiniteLosses(is) && ++skipped <= kMaxSkipped;
      if (!settles)
        return Other("skipped", i + 1,
                     is.skipped ? StrCat("the loss scaler skips step ", i + 1, ", whose gradients overflow")
                                : StrCat("step ", i + 1, " is not skipped by the loss scaler, as it was"));
    }
    if (is.skipped || was.skipped) continue;
    if (auto report = CheckStep(baseline, was, is, i + 1)) return report;
  }
  if (baseline.events.size() != candidate.events.size())
    return Other("counts", candidate.events.size(),
                 StrCat("it takes ", candidate.events.size(), " optimiser steps instead of ", baseline.events.size()));
  return CheckRepeats(baseline, candidate);
}

std::optional<OtherRandomness> FindOtherRandomness(const ParityRecording& baseline, const ParityRecording& candidate) {
  const auto differ = [](const auto& a, const auto& b) { return a && b && *a != *b; };
  for (size_t i = 0; i < std::min(baseline.events.size(), candidate.events.size()); ++i) {
    const ParityEvent &was = baseline.events[i], &is = candidate.events[i];
    if (differ(was.start, is.start) && !HaveCloseStarts(was, is))
      return OtherRandomness{i + 1, "other parameters at the start"};
    if (differ(was.rows, is.rows)) return OtherRandomness{i + 1, "other samples"};
    if (differ(was.random, is.random)) return OtherRandomness{i + 1, "other random numbers"};
    if (differ(was.order, is.order) && (was.draws || is.draws))
      return OtherRandomness{i + 1, "samples in another order, beside random numbers"};
  }
  return std::nullopt;
}

bool IsExact(const ParityRecording& baseline, const ParityRecording& candidate) {
  if (baseline.events.size() != candidate.events.size()) return false;
  for (size_t i = 0; i < baseline.events.size(); ++i) {
    const ParityEvent &was = baseline.events[i], &is = candidate.events[i];
    if (was.skipped && is.skipped) continue;
    if (!was.state || !is.state || *was.state != *is.state || was.losses != is.losses) return false;
  }
  return !baseline.events.empty();
}

size_t ComparableEvents(const ParityRecording& baseline, const ParityRecording& candidate) {
  const size_t events = std::min(baseline.events.size(), candidate.events.size());
  for (size_t i = 0; i < events; ++i) {
    const ParityEvent &was = baseline.events[i], &is = candidate.events[i];
    const bool same = was.state && is.state && *was.state == *is.state;
    if (!is.handed && !same) return i + 1;
  }
  return events;
}

}  // namespace gapless::internal
