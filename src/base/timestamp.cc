// SPDX-License-Identifier: Apache-2.0
// Parses and formats times to the nanosecond.
//
// A text is taken from its front, piece by piece: date, "T" or a space, time, decimals, zone. All of it but a number of
// seconds since 1970 is integer arithmetic. A leap second ":60" is taken as the first second of the next minute, as
// Unix time has none.
#include "base/timestamp.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000, kDayNs = 86'400 * kSecondNs;
constexpr int kFirstYear = 1678, kLastYear = 2261;              // whole years that int64 ns can say
constexpr int kFirstLoggedYear = 1980, kLastLoggedYear = 2200;  // others are no times of a log
constexpr double kFirstPlain = 1e8, kLastPlainSeconds = 4e9, kLastPlainMs = 9e12;
constexpr size_t kDateLength = 10;

// Characters that may be before a number and missing from it: nothing, or what sscanf() forgives.
enum class Exactness : uint8_t { kExact, kLoose };

bool IsDigit(std::string_view text) { return !text.empty() && text.front() >= '0' && text.front() <= '9'; }

bool Take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Takes a number of `digits` digits from the front; loosely also one of fewer, and behind spaces.
std::optional<int> TakeNumber(std::string_view& text, size_t digits, Exactness how) {
  const bool loose = how == Exactness::kLoose;
  while (loose && Take(text, ' ')) {
  }
  int number = 0;
  size_t taken = 0;
  for (; taken < digits && IsDigit(text); ++taken) {
    number = number * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  return taken == digits || (loose && taken > 0) ? std::optional(number) : std::nullopt;
}

// Takes "2026-11-21" and returns its midnight in ns; loosely also "2026/11/21" and "20261121". A day that the calendar
// does not have is refused, and loosely counted on from the first of its month.
std::optional<int64_t> TakeDate(std::string_view& text, Exactness how) {
  const bool loose = how == Exactness::kLoose;
  const auto year = TakeNumber(text, 4, how);
  const char between = loose && text.starts_with('/') ? '/' : '-';
  const bool apart = Take(text, between);
  if (!year || !(apart || loose)) return std::nullopt;
  const auto month = TakeNumber(text, 2, how);
  if (!month || (apart && !Take(text, between))) return std::nullopt;
  const auto day = TakeNumber(text, 2, how);
  if (!day || *year < (loose ? kFirstLoggedYear : kFirstYear) || *year > (loose ? kLastLoggedYear : kLastYear))
    return std::nullopt;
  const std::chrono::year_month_day first{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(1)};
  const auto date = first.year() / first.month() / std::chrono::day(static_cast<unsigned>(*day));
  if (!(loose ? first : date).ok()) return std::nullopt;
  return (std::chrono::sys_days(first).time_since_epoch().count() + *day - 1) * kDayNs;
}

// Decimals of a second; what is below a nanosecond is left out.
int64_t TakeDecimals(std::string_view& text) {
  int64_t ns = 0, worth = kSecondNs;
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || !IsDigit(text.substr(1))) return 0;
  text.remove_prefix(1);
  for (; IsDigit(text); text.remove_prefix(1)) {
    worth /= 10;
    ns += (text.front() - '0') * worth;
  }
  return ns;
}

// Takes "23:27:13" and returns the ns since midnight. Seconds may be missing, but not from a log.
std::optional<int64_t> TakeTime(std::string_view& text, Exactness how) {
  const bool loose = how == Exactness::kLoose;
  const auto hour = TakeNumber(text, 2, how);
  if (!hour || !Take(text, ':')) return std::nullopt;
  const auto minute = TakeNumber(text, 2, how);
  if (!minute || (!loose && (*hour > 23 || *minute > 59))) return std::nullopt;
  const int64_t ns = (*hour * int64_t{60} + *minute) * 60 * kSecondNs;
  if (!Take(text, ':')) return loose ? std::nullopt : std::optional(ns);
  const auto second = TakeNumber(text, loose ? 9 : 2, how);  // "200" is not 20
  if (!second || *second > (loose ? 61 : 60)) return std::nullopt;
  return ns + *second * kSecondNs + TakeDecimals(text);
}

// Takes the offset of a zone from UTC: "+01", "+0100", "+01:00".
std::optional<int64_t> TakeOffset(std::string_view& text, Exactness how) {
  const bool loose = how == Exactness::kLoose, ahead = Take(text, '+');
  if (!ahead && !Take(text, '-')) return std::nullopt;
  const auto hours = TakeNumber(text, 2, how);
  std::optional<int> minutes = 0;
  if (Take(text, ':') || (loose ? IsDigit(text) : !text.empty())) minutes = TakeNumber(text, 2, how);
  if (loose && !minutes) minutes = 0;
  if (!hours || !minutes || (!loose && (*hours > 23 || *minutes > 59))) return std::nullopt;
  return (ahead ? 1 : -1) * (*hours * int64_t{60} + *minutes) * 60 * kSecondNs;
}

// Returns seconds or milliseconds since 1970 that are written as one number.
std::optional<int64_t> PlainNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number > kFirstPlain && number < kLastPlainMs))
    return std::nullopt;
  return static_cast<int64_t>(number * (number > kLastPlainSeconds ? 1e6 : 1e9));
}

// Returns the time that clocks of this machine showed as `shown_ns`, the ns since 1970 by their date and time.
int64_t FromLocal(int64_t shown_ns) {
  const std::time_t shown_s = shown_ns / kSecondNs;
  std::tm parts{};
  ::gmtime_r(&shown_s, &parts);
  parts.tm_isdst = -1;
  return std::mktime(&parts) * kSecondNs + shown_ns % kSecondNs;
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
  const auto date = TakeDate(text, Exactness::kExact);
  if (!date || text.empty()) return date;
  if (!Take(text, 'T') && !Take(text, ' ') && !Take(text, 't')) return std::nullopt;
  const auto time = TakeTime(text, Exactness::kExact);
  if (!time) return std::nullopt;
  const bool is_utc = text.empty() || Take(text, 'Z') || Take(text, 'z');
  const auto offset = is_utc ? int64_t{0} : TakeOffset(text, Exactness::kExact);
  if (!offset || !text.empty()) return std::nullopt;
  return *date + *time - *offset;
}

// A zone is looked for at the end, because its name may stand before its offset: "GMT+8".
std::optional<int64_t> ParseLoggedTime(std::string_view text) {
  while (Take(text, ' ')) {
  }
  if (const auto number = PlainNumber(text)) return number;
  const auto date = TakeDate(text, Exactness::kLoose);
  if (!date) return std::nullopt;
  Take(text, 'T');
  const auto time = TakeTime(text, Exactness::kLoose);
  if (!time) return std::nullopt;
  if (text.ends_with('Z')) return *date + *time;
  text.remove_prefix(std::min(text.size(), text.find_last_of("+-")));
  const auto offset = TakeOffset(text, Exactness::kLoose);
  return offset ? *date + *time - *offset : FromLocal(*date + *time);
}

std::optional<int64_t> ParseUntil(std::string_view text) {
  const auto time = ParseTimestamp(text);
  return time && text.size() == kDateLength ? *time + kDayNs - 1 : time;
}

}  // namespace gapless::internal
