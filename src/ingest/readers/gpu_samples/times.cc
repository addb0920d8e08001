// SPDX-License-Identifier: Apache-2.0
// Reads a time in any of the forms, one after the other.
#include "ingest/readers/gpu_samples/times.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

#include "trace/ids.h"

namespace gapless::internal::gpu_samples {
namespace {

constexpr double kMaxPlainSeconds = 4e9;  // beyond: milliseconds since 1970

// Seconds that a zone at the end of a time is ahead of UTC: "Z", "+08:00"; absent without a zone. The zone is cut off
// the text.
std::optional<int64_t> TakeZone(std::string& text) {
  if (text.ends_with('Z')) {
    text.pop_back();
    return 0;
  }
  const size_t sign = text.find_last_of("+-");
  int hours = 0, minutes = 0;
  if (sign == std::string::npos || text.find(':') >= sign ||
      std::sscanf(text.c_str() + sign + 1, "%2d:%2d", &hours, &minutes) < 1)
    return std::nullopt;
  const int64_t seconds = hours * 3600 + minutes * 60;
  const bool is_behind = text[sign] == '-';
  text.resize(sign);
  return is_behind ? -seconds : seconds;
}

}  // namespace

int64_t TimeOf(std::string_view given) {
  while (!given.empty() && given.front() == ' ') given.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (error == std::errc() && end == given.data() + given.size() && number > 1e8)
    return static_cast<int64_t>(number * (number > kMaxPlainSeconds ? 1e6 : 1e9));
  std::string text(given);
  if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
  const std::optional<int64_t> zone_s = TakeZone(text);
  std::tm parts{};
  double seconds = 0;
  int year = 0, month = 0;
  for (const char* form : {"%4d/%2d/%2d %2d:%2d:%lf", "%4d%2d%2d %2d:%2d:%lf", "%4d-%2d-%2d %2d:%2d:%lf"}) {
    if (std::sscanf(text.c_str(), form, &year, &month, &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &seconds) != 6)
      continue;
    if (year < 1980 || year > 2200 || month < 1 || month > 12 || !(seconds >= 0) || seconds >= 62) return kAbsent;
    parts.tm_year = year - 1900, parts.tm_mon = month - 1, parts.tm_isdst = -1;
    const std::time_t whole = zone_s ? ::timegm(&parts) - *zone_s : std::mktime(&parts);
    return whole == -1 ? kAbsent : whole * 1'000'000'000 + std::llround(seconds * 1e9);
  }
  return kAbsent;
}

}  // namespace gapless::internal::gpu_samples
