// SPDX-License-Identifier: Apache-2.0
// Implements access to parsed options: values, lists, and numbers within a range. Numbers must take up the whole word,
// so that "10x" is refused instead of read as 10.
#include "cli/arguments.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {

std::string_view Arguments::Value(std::string_view option, std::string_view fallback) const {
  const auto found = options_.find(option);
  return found == options_.end() || found->second.empty() ? fallback : std::string_view(found->second.back());
}

std::vector<std::string> Arguments::Values(std::string_view option) const {
  const auto found = options_.find(option);
  return found == options_.end() ? std::vector<std::string>() : found->second;
}

// Splits at commas. Empty items are left out, so that "a,,b" and a trailing comma do no harm.
std::vector<std::string> Arguments::List(std::string_view option) const {
  std::vector<std::string> items;
  const auto found = options_.find(option);
  if (found == options_.end()) return items;
  for (const std::string& value : found->second) {
    for (const std::string_view item : Split(value, ',')) {
      if (!item.empty()) items.emplace_back(item);
    }
  }
  return items;
}

// The fallback may be below `least`: callers use it to see that the option was not given.
Result<int64_t> Arguments::Number(std::string_view option, int64_t least, int64_t fallback) const {
  if (!Has(option)) return fallback;
  const std::string_view text = Value(option);
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < least) {
    return Fail(ErrorCode::kUsage,
                StrCat("--", option, " requires a whole number of at least ", least, ", not '", text, "'"));
  }
  return number;
}

// Removes the unit, which is optional, before it reads the number. 0, numbers below 0, NaN and infinities are refused.
Result<std::optional<double>> Arguments::Positive(std::string_view option, std::string_view unit) const {
  if (!Has(option)) return std::optional<double>();
  std::string_view text = Value(option);
  if (!unit.empty() && text.ends_with(unit)) text.remove_suffix(unit.size());
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number <= 0)
    return Fail(ErrorCode::kUsage,
                StrCat("--", option, " requires a number above 0, not '", Printable(Value(option)), "'"));
  return std::optional<double>(number);
}

}  // namespace gapless::internal
