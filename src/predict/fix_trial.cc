// SPDX-License-Identifier: Apache-2.0
// Implements what the trials of fixes share: names of efforts, and questions about the machine.
#include "predict/fix_trial.h"

#include <algorithm>
#include <charconv>

namespace gapless::internal {
namespace {

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

bool TorchIsAtLeast(const FixContext& context, int major, int minor) {
  std::string_view text = context.torch_version;
  const int have_major = TakeNumber(text), have_minor = TakeNumber(text);
  return have_major > major || (have_major == major && have_minor >= minor);
}

}  // namespace gapless::internal
