// SPDX-License-Identifier: Apache-2.0
// Reads the values of options. Numbers must take up the whole word, so that "10x" is refused instead of read as 10.
#include "cli/option.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal::option {

Result<bool> ReadFlag(const OptionSpec&, std::string_view) { return true; }

Result<std::string> ReadText(const OptionSpec&, std::string_view text) { return std::string(text); }

// Splits at commas. Empty items are left out, so that "a,,b" and a trailing comma do no harm.
Result<std::vector<std::string>> ReadItems(const OptionSpec&, std::string_view text) {
  std::vector<std::string> items;
  for (const std::string_view item : Split(text, ','))
    if (!item.empty()) items.emplace_back(item);
  return items;
}

Result<int64_t> ReadWhole(const OptionSpec& option, std::string_view text) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < option.least)
    return Fail(ErrorCode::kUsage, StrCat("--", option.name, " requires a whole number of at least ", option.least,
                                          ", not '", Printable(text), "'"));
  return std::min(number, option.most);
}

// Removes the unit, which is optional, before it reads the number. 0, numbers below 0, NaN and infinities are refused.
Result<double> ReadPositive(const OptionSpec& option, std::string_view text) {
  std::string_view digits = text;
  if (!option.unit.empty() && digits.ends_with(option.unit)) digits.remove_suffix(option.unit.size());
  double number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number) || number <= 0)
    return Fail(ErrorCode::kUsage,
                StrCat("--", option.name, " requires a number above 0, not '", Printable(text), "'"));
  return number;
}

}  // namespace gapless::internal::option
