// SPDX-License-Identifier: Apache-2.0
// Sums up the steps of one run, and compares those of two.
#include "trial/run_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/strings.h"
#include "validate/summary.h"
#include "wire/agent_ring.h"

namespace gapless::internal {
namespace {

constexpr double kSameSamples = 0.01;  // two runs have as many samples a step, but for a last, smaller batch

// A step that takes this many times the median is an interruption, if no more than the given share of steps are.
constexpr double kInterruption = 8, kMaxInterruptions = 0.03;

double MeanMs(std::span<const int64_t> ns) {
  if (ns.empty()) return 0;
  const int64_t all_ns = std::accumulate(ns.begin(), ns.end(), int64_t{0}, wire::SumOf);
  return static_cast<double>(all_ns) / 1e6 / static_cast<double>(ns.size());
}

}  // namespace

std::string_view NameOf(SampleSource source) {
  switch (source) {
    case SampleSource::kSteps: return "steps";
    case SampleSource::kPattern: return "pattern";
    case SampleSource::kProcess: break;
  }
  return "process";
}

std::string AgentWords(const RunSample& sample) {
  std::string words;
  for (const std::string& message : sample.messages) words += StrCat("\nthe agent said: ", Printable(message));
  return words;
}

bool Succeeded(const RunSample& sample) { return sample.stopped || (sample.exit_status == 0 && !sample.timed_out); }

double MeanStepMs(const RunSample& sample) {
  if (sample.source != SampleSource::kSteps) return TypicalValue(sample).value_or(0);
  return MeanMs(sample.step_ns);
}

double SteadyMeanMs(std::span<const int64_t> step_ns) {
  std::vector<int64_t> sorted(step_ns.begin(), step_ns.end());
  if (sorted.empty()) return 0;
  std::ranges::sort(sorted);
  const double longest_ns = kInterruption * static_cast<double>(sorted[sorted.size() / 2]);
  const auto first_long =
      std::ranges::upper_bound(sorted, longest_ns, {}, [](int64_t ns) { return static_cast<double>(ns); });
  const auto interruptions = static_cast<double>(sorted.end() - first_long);
  if (interruptions <= 1 + kMaxInterruptions * static_cast<double>(sorted.size()))
    sorted.erase(first_long, sorted.end());
  return MeanMs(sorted);
}

double SteadyStepMs(const RunSample& sample) {
  return sample.source == SampleSource::kSteps ? SteadyMeanMs(sample.step_ns) : MeanStepMs(sample);
}

double RatioOfTimes(const RunSample& a, const RunSample& b) {
  if (a.samples_per_second && b.samples_per_second && *b.samples_per_second > 0) {
    const double a_samples = *a.samples_per_second * MeanStepMs(a), b_samples = *b.samples_per_second * MeanStepMs(b);
    if (std::abs(a_samples / b_samples - 1) > kSameSamples) return *a.samples_per_second / *b.samples_per_second;
  }
  const size_t from = std::max(a.warmup, b.warmup),
               to = std::min(a.warmup + a.step_ns.size(), b.warmup + b.step_ns.size());
  if (a.source != SampleSource::kSteps || b.source != SampleSource::kSteps || from >= to)
    return MeanStepMs(b) / MeanStepMs(a);
  const auto mean = [&](const RunSample& run) {
    return MeanMs(std::span(run.step_ns).subspan(from - run.warmup, to - from));
  };
  return mean(b) / mean(a);
}

std::optional<double> TypicalValue(const RunSample& sample) {
  switch (sample.source) {
    case SampleSource::kSteps: {
      std::vector<double> ms;
      for (const int64_t ns : sample.step_ns) ms.push_back(static_cast<double>(ns) / 1e6);
      return Median(ms);
    }
    case SampleSource::kPattern: return Median(sample.values);
    case SampleSource::kProcess: break;
  }
  return static_cast<double>(sample.wall_ns) / 1e6;
}

}  // namespace gapless::internal
