// SPDX-License-Identifier: Apache-2.0
// Reads the values of options. Numbers must take up the whole word, so that "10x" is refused instead of read as 10.
#include "cli/option.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "cli/arguments.h"

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

namespace gapless::internal {

// Takes one unit letter at the end; a number without one is seconds.
Result<double> ReadTime(const OptionSpec& option, std::string_view text) {
  std::string_view digits = text;
  double unit = 1;
  for (const auto& [letter, seconds] : {std::pair('s', 1.0), std::pair('m', 60.0), std::pair('h', 3600.0)})
    if (digits.ends_with(letter)) {
      digits.remove_suffix(1);
      unit = seconds;
      break;
    }
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc() && end == digits.data() + digits.size() && std::isfinite(number) && number > 0)
    return number * unit;
  return Fail(ErrorCode::kUsage, StrCat("--", option.name, " takes a time, such as 90s, 10m or 2h"), std::string(text));
}

Result<int64_t> ReadBytes(const OptionSpec& option, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const std::string_view ending : {"iB", "B"})
    if (unit.ends_with(ending)) {
      unit.remove_suffix(ending.size());
      break;
    }
  constexpr std::string_view kUnits = "KMGT";
  const size_t power = unit.empty() ? 0 : unit.size() == 1 ? kUnits.find(unit) + 1 : std::string_view::npos;
  const double bytes = std::ldexp(number, power > kUnits.size() ? 0 : static_cast<int>(10 * power));
  if (error == std::errc() && power <= kUnits.size() && (unit.empty() || power > 0) && bytes >= 1 && bytes < 1e18)
    return static_cast<int64_t>(bytes);
  return Fail(ErrorCode::kUsage, StrCat("--", option.name, " takes a size, such as 512M or 4G"), std::string(text));
}

}  // namespace gapless::internal
