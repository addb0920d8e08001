// SPDX-License-Identifier: Apache-2.0
// Implements what the trials of fixes share: names of efforts, and questions about the machine.
#include "predict/fix_trial.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gapless::internal {
namespace {

constexpr double kMinLoaderWait = 0.2;      // share of step time, below which waits say little about loading
constexpr double kMinCpusOfLoading = 0.02;  // handing over a batch is work, too

// Removes a number and a dot from the start of `text` and returns the number; −1 if `text` does not start with a
// number.
int TakeNumber(std::string_view& text) {
  int number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with('.')) text.remove_prefix(1);
  return number;
}

}  // namespace

std::string_view NameOf(Effort effort) {
  switch (effort) {
    case Effort::kMedium: return "medium";
    case Effort::kAdvanced: return "advanced";
    case Effort::kQuick: break;
  }
  return "quick win";
}

std::string_view DurationOf(Effort effort) {
  switch (effort) {
    case Effort::kMedium: return "hours";
    case Effort::kAdvanced: return "days";
    case Effort::kQuick: break;
  }
  return "minutes";
}

FixValues Always(const FixContext& /*context*/) { return {.values = {""}}; }

FixValues NoneBecause(std::string_view reason) { return {.why_not = std::string(reason)}; }

size_t CpusPerRank(const FixContext& context) {
  return std::max<size_t>(1, context.cpus / std::max<size_t>(1, context.ranks));
}

// The rest of a step, in which the training does not wait for a batch, is taken to keep one processor busy: what is
// left of the job's processor time is spent on loading, by the training itself or by the workers that it waits for.
// Example: steps that wait 90 % of their time, in a job that keeps 0.19 processors busy: (0.19 - 0.1) / 0.9 = 0.1.
double CpusOfLoading(const FixContext& context) {
  const auto& wait = context.shares.loader_wait;
  if (!context.busy || !wait || *wait < kMinLoaderWait) return 1;
  const double of_rank = *context.busy / static_cast<double>(std::max<size_t>(1, context.ranks));
  const double loaders = context.loader_workers > 0 ? static_cast<double>(context.loader_workers) : *wait;
  return std::clamp((of_rank - (1 - *wait)) / loaders, kMinCpusOfLoading, 1.0);
}

size_t LoadersPerRank(const FixContext& context) {
  return static_cast<size_t>(std::floor(static_cast<double>(CpusPerRank(context)) / CpusOfLoading(context) + 1e-6));
}

bool IsVersionAtLeast(std::string_view version, std::string_view least) {
  for (bool is_first = true; !least.empty(); is_first = false) {
    const int wanted = TakeNumber(least), have = TakeNumber(version);
    if (wanted < 0 || (is_first && have < 0)) return false;
    if (std::max(have, 0) != wanted) return have > wanted;
  }
  return true;
}

bool TorchIsAtLeast(const FixContext& context, int major, int minor) {
  std::string_view text = context.torch_version;
  const int have_major = TakeNumber(text), have_minor = TakeNumber(text);
  return have_major > major || (have_major == major && have_minor >= minor);
}

}  // namespace gapless::internal
