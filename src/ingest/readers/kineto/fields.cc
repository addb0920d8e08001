// SPDX-License-Identifier: Apache-2.0
// Parses the numbers of an event's fields, without allocation.
//
// Times are parsed digit by digit into integers: a unix time in microseconds with three decimals needs more digits
// than a double has. Texts that are no number, and numbers that do not fit, are absent.
#include "ingest/readers/kineto/fields.h"

#include <charconv>
#include <cmath>

namespace gapless::internal::kineto {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr int64_t kMaxNs = int64_t{1} << 61;  // sums of a start and a duration still fit

// "1.6e15": rare, so through long double, which holds 64 bits exactly.
int64_t ExponentNs(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return kAbsent;
  const long double ns = static_cast<long double>(value) * 1000.0L;
  if (!(std::fabs(static_cast<double>(ns)) < static_cast<double>(kMaxNs))) return kAbsent;
  return static_cast<int64_t>(std::round(ns));
}

}  // namespace

std::string_view TokenText(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') return token.substr(1, token.size() - 2);
  return token;
}

// Also takes "0x…", "stream 7", and whole numbers written as reals ("7.0"), which recorders have written.
int64_t TokenInt(std::string_view token) {
  std::string_view text = TokenText(token);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  } else if (text.starts_with("stream ")) {
    text.remove_prefix(7);
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc::result_out_of_range && base == 10) {
    // Addresses and ids that use all 64 bits keep their bits.
    uint64_t wide = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), wide).ec == std::errc())
      return static_cast<int64_t>(wide);
  }
  if (error != std::errc() || end == text.data()) return kAbsent;
  if (end == text.data() + text.size()) return value;
  if (*end == '.' || *end == 'e' || *end == 'E') {
    const double real = TokenReal(token);
    return std::fabs(real) < 9e18 ? static_cast<int64_t>(real) : kAbsent;
  }
  return kAbsent;
}

double TokenReal(std::string_view token) {
  const std::string_view text = TokenText(token);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() && std::isfinite(value) ? value : kNan;
}

// Reads at most 18 digits before the point, which fit int64_t, and three behind it.
int64_t TokenNs(std::string_view token) {
  const std::string_view text = TokenText(token);
  size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++at;
  if (at >= text.size() || !IsDigit(text[at])) return kAbsent;
  int64_t value = 0;
  int digits = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    if (++digits > 18) return kAbsent;
    value = value * 10 + (text[at] - '0');
  }
  if (value >= kMaxNs / 1000) return kAbsent;
  int fraction = 0;
  int64_t below = 0;
  if (at < text.size() && text[at] == '.')
    for (++at; at < text.size() && IsDigit(text[at]); ++at)
      if (fraction < 3) below = below * 10 + (text[at] - '0'), ++fraction;
  for (; fraction < 3; ++fraction) below *= 10;
  if (at < text.size()) return text[at] == 'e' || text[at] == 'E' ? ExponentNs(text) : kAbsent;
  const int64_t ns = value * 1000 + below;
  return negative ? -ns : ns;
}

}  // namespace gapless::internal::kineto
