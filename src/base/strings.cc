// SPDX-License-Identifier: Apache-2.0
// Implements the functions on texts: formats for people, splitting and joining, UTF-8, display width. The unit of
// a number is chosen by its rounded value, so that 999.96 ms reads "1.00 s" and never "1000 ms".
#include "base/strings.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gapless::internal {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

// Decimals that show `digits` significant digits of what remains after rounding: 2 for 9.99, 1 for 9.996, which is
// "10.0".
int DecimalsFor(double magnitude, int digits) {
  int decimals = digits - 1;
  double half = 0.5 * std::pow(10.0, -decimals);
  for (double limit = 10; decimals > 0 && magnitude >= limit - half; limit *= 10, half *= 10) --decimals;
  return decimals;
}

// The largest unit in which the rounded value is at least 1: 999,960 bytes are "1.00 MB", not "1000 kB".
template <size_t n>
const Unit& UnitFor(double magnitude, const std::array<Unit, n>& units, double largest_shown) {
  size_t i = 0;
  while (i + 1 < n && magnitude / units[i].size >= largest_shown) ++i;
  return units[i];
}

std::string HoursAndMinutes(double seconds) {
  const auto minutes = static_cast<int64_t>(std::llround(seconds / 60));
  const int64_t left = minutes % 60;
  return StrCat(minutes / 60, " h ", left < 10 ? "0" : "", left, " min");
}

}  // namespace

void strings_internal::Append(std::string& out, double part) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), part).ptr;
  out.append(buffer.data(), end);
}

std::string FormatDuration(int64_t ns) {
  static constexpr std::array<Unit, 3> kUnits = {{{1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  const auto value = static_cast<double>(ns);
  const double magnitude = std::abs(value);
  if (magnitude < 1e3) return StrCat(ns, " ns");
  if (magnitude >= 3599.5e9) return StrCat(ns < 0 ? "-" : "", HoursAndMinutes(magnitude / 1e9));
  const Unit& unit = UnitFor(magnitude, kUnits, 999.95);
  // Long times are worth a digit more: 176.5 ms, 12.04 s.
  const double shown = magnitude / unit.size;
  const int digits = shown >= 99.95 || (unit.size == 1e9 && shown >= 9.9995) ? 4 : 3;
  return StrCat(FormatNumber(value / unit.size, DecimalsFor(shown, digits)), " ", unit.name);
}

std::string FormatMs(int64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  const double magnitude = std::abs(ms);
  const int decimals = magnitude >= 9.995 ? 1 : magnitude >= 0.9995 ? 2 : 3;
  return FormatNumber(ms, decimals) + " ms";
}

std::string FormatPercent(double share) {
  const double percent = share * 100;
  return FormatNumber(percent, percent != 0 && std::abs(percent) < 0.995 ? 2 : 1) + " %";
}

std::string FormatBytes(int64_t bytes) {
  static constexpr std::array<Unit, 6> kUnits = {
      {{1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}, {1e18, "EB"}}};
  const auto value = static_cast<double>(bytes);
  const double magnitude = std::abs(value);
  if (magnitude < 1e3) return StrCat(bytes, " B");
  const Unit& unit = UnitFor(magnitude, kUnits, 999.5);
  return StrCat(FormatNumber(value / unit.size, DecimalsFor(magnitude / unit.size, 3)), " ", unit.name);
}

std::string FormatCounted(int64_t count, std::string_view singular, std::string_view many) {
  if (count == 1) return StrCat("1 ", singular);
  return many.empty() ? StrCat(FormatCount(count), " ", singular, "s") : StrCat(FormatCount(count), " ", many);
}

std::string FormatTimes(double times) {
  const double tenths = std::round(times * 10);
  if (tenths == 10) return "once";
  const bool is_whole = std::fmod(tenths, 10) == 0;
  return StrCat(is_whole ? FormatCount(std::llround(times)) : FormatNumber(times, 1), " times");
}

std::string FormatCount(int64_t count) {
  const std::string digits = StrCat(count);
  const size_t first = digits[0] == '-' ? 1 : 0;
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) out.push_back(',');
    out.push_back(digits[i]);
  }
  return out;
}

// Writes no sign for what rounds to 0.
std::string FormatNumber(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  std::array<char, 512> buffer;  // the longest double has 309 digits before the point
  const int places = std::clamp(decimals, 0, 100);
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, places).ptr;
  std::string out(buffer.data(), end);
  if (out[0] == '-' && out.find_first_of("123456789f") == std::string::npos) out.erase(0, 1);  // no "-0.0"
  return out;
}

std::string FormatDigits(double value, int digits) {
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general,
                                 std::clamp(digits, 1, 17))
                       .ptr;
  return {buffer.data(), end};
}

size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) >= 0xA0) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) >= 0x90) return 0;
  return length;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(parts[i]);
  }
  return out;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) == Lower(y); });
}

bool ContainsIgnoreCase(std::string_view text, std::string_view part) {
  const auto same = [](char x, char y) { return Lower(x) == Lower(y); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end() || part.empty();
}

std::string ShellWord(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80 ||
           std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace gapless::internal
