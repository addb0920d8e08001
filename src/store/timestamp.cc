// SPDX-License-Identifier: Apache-2.0
// Parses and formats RFC 3339 times to the nanosecond.
//
// A text is taken from its front, piece by piece: date, "T" or a space, time, decimals, zone. Everything is integer
// arithmetic. A leap second ":60" is taken as the first second of the next minute, as Unix time has none.
#include "store/timestamp.h"

#include <charconv>
#include <chrono>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000, kDayNs = 86'400 * kSecondNs;
constexpr int kFirstYear = 1678, kLastYear = 2261;  // whole years that int64 ns can say
constexpr size_t kDateLength = 10;

// Takes exactly `digits` digits from the front.
std::optional<int> TakeNumber(std::string_view& text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool Take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Takes "2026-11-21" and returns its midnight in ns. A day that the calendar does not have is refused.
std::optional<int64_t> TakeDate(std::string_view& text) {
  const auto year = TakeNumber(text, 4);
  if (!year || !Take(text, '-')) return std::nullopt;
  const auto month = TakeNumber(text, 2);
  if (!month || !Take(text, '-')) return std::nullopt;
  const auto day = TakeNumber(text, 2);
  if (!day || *year < kFirstYear || *year > kLastYear) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * kDayNs;
}

// Decimals of a second; what is below a nanosecond is left out.
int64_t TakeDecimals(std::string_view& text) {
  int64_t ns = 0, worth = kSecondNs;
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || text[1] < '0' || text[1] > '9') return 0;
  text.remove_prefix(1);
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    worth /= 10;
    ns += (text.front() - '0') * worth;
    text.remove_prefix(1);
  }
  return ns;
}

// Takes "23:27" with or without seconds, and returns the ns since midnight.
std::optional<int64_t> TakeTime(std::string_view& text) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || !Take(text, ':')) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  int64_t ns = (*hour * int64_t{60} + *minute) * 60 * kSecondNs;
  if (!Take(text, ':')) return ns;
  const auto second = TakeNumber(text, 2);
  if (!second || *second > 60) return std::nullopt;
  return ns + *second * kSecondNs + TakeDecimals(text);
}

// Parses the offset of the zone from UTC.
std::optional<int64_t> TakeZone(std::string_view& text) {
  if (text.empty() || Take(text, 'Z') || Take(text, 'z')) return 0;
  const bool ahead = text.front() == '+';
  if (!ahead && text.front() != '-') return std::nullopt;
  text.remove_prefix(1);
  const auto hours = TakeNumber(text, 2);
  if (!hours) return std::nullopt;
  std::optional<int> minutes = 0;
  if (Take(text, ':') || !text.empty()) minutes = TakeNumber(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (ahead ? 1 : -1) * (*hours * int64_t{60} + *minutes) * 60 * kSecondNs;
}

std::string Digits(int64_t number, size_t width) {
  const std::string digits = StrCat(number);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

}  // namespace

int64_t UnixTimeNs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::string FormatTimestamp(int64_t unix_ns) {
  using std::chrono::nanoseconds;
  const std::chrono::sys_time<nanoseconds> time{nanoseconds(unix_ns)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const int64_t ns = (time - day).count(), seconds = ns / kSecondNs;
  std::string out =
      StrCat(Digits(static_cast<int>(date.year()), 4), "-", Digits(static_cast<unsigned>(date.month()), 2), "-",
             Digits(static_cast<unsigned>(date.day()), 2), "T", Digits(seconds / 3600, 2), ":",
             Digits(seconds / 60 % 60, 2), ":", Digits(seconds % 60, 2));
  std::string decimals = Digits(ns % kSecondNs, 9);
  while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
  return StrCat(out, decimals.empty() ? "" : ".", decimals, "Z");
}

std::optional<int64_t> ParseTimestamp(std::string_view text) {
  const auto date = TakeDate(text);
  if (!date || text.empty()) return date;
  if (!Take(text, 'T') && !Take(text, ' ') && !Take(text, 't')) return std::nullopt;
  const auto time = TakeTime(text);
  if (!time) return std::nullopt;
  const auto zone = TakeZone(text);
  if (!zone || !text.empty()) return std::nullopt;
  return *date + *time - *zone;
}

std::optional<int64_t> ParseUntil(std::string_view text) {
  const auto time = ParseTimestamp(text);
  return time && text.size() == kDateLength ? *time + kDayNs - 1 : time;
}

}  // namespace gapless::internal
