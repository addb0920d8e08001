// SPDX-License-Identifier: Apache-2.0
// Formats the values, times, units and commits of trends for people. Text from a history is untrusted; the results are
// printable.
#include "report/trend/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "base/strings.h"
#include "base/timestamp.h"

namespace gapless::internal {
namespace {

// Lengths in characters: of a date, of a date with minutes, of a short hash, and of the shortest text taken for a hash.
constexpr size_t kDayOnly = 10, kMinuteOnly = 16, kShortHash = 10, kMinHash = 7;
constexpr int kCommitColumns = 12;
constexpr double kLargestPlain = 1e15, kSmallestPlain = 1e-4, kLargestShare = 99.995;

// A unit and its size in the metric's own unit.
struct Prefix {
  double size;
  std::string_view name;
};
constexpr Prefix kSeconds[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
constexpr Prefix kBytes[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "bytes"}};

// Returns the first unit that the value has at least one of; the last one for smaller values.
ShownUnit FirstThatFits(std::span<const Prefix> prefixes, double largest) {
  for (const Prefix& prefix : prefixes)
    if (largest >= prefix.size) return {.size = prefix.size, .name = std::string(prefix.name)};
  return {.size = prefixes.back().size, .name = std::string(prefixes.back().name)};
}

}  // namespace

// Only seconds and bytes have prefixes; any other unit is shown as it was recorded.
ShownUnit ShownUnitOf(double largest, std::string_view unit) {
  const double size = std::abs(largest);
  if (unit == "s") return size > 0 ? FirstThatFits(kSeconds, size) : ShownUnit{.name = "s"};
  if (unit == "bytes") return FirstThatFits(kBytes, size);
  return {.name = Printable(unit)};
}

// Rounds first and chooses the decimals by the result: 99.998 is shown as "100.0".
std::string FourDigits(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= kLargestPlain || size < kSmallestPlain) {
    std::array<char, 40> buffer;
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, 3).ptr;
    return {buffer.data(), end};
  }
  if (size >= 9999.5) return FormatCount(std::llround(value));
  const double rounded = size * (1 + 5e-5);  // 99.998 is 100.0
  return FormatNumber(value, std::clamp(3 - static_cast<int>(std::floor(std::log10(rounded))), 0, 8));
}

std::string AmountOf(double value, std::string_view unit) {
  const ShownUnit shown = ShownUnitOf(value, unit);
  return StrCat(FourDigits(value / shown.size), shown.name.empty() ? "" : " ", shown.name);
}

std::string FromTo(double before, double after, std::string_view unit) {
  const ShownUnit shown = ShownUnitOf(std::max(std::abs(before), std::abs(after)), unit);
  return StrCat(FourDigits(before / shown.size), " to ", FourDigits(after / shown.size), shown.name.empty() ? "" : " ",
                shown.name);
}

std::string SignedPercent(double share) {
  const double size = std::abs(share);
  return StrCat(share >= 0 ? "+" : "-", size > kLargestShare ? "9,999 % or more" : FormatPercent(size));
}

std::string SizeOf(const ChangePoint& change) {
  return change.relative_change ? SignedPercent(*change.relative_change) : "";
}

std::string_view WordOf(TrendChange kind) {
  switch (kind) {
    case TrendChange::kImprovement: return "improvement";
    case TrendChange::kRegression: return "regression";
    case TrendChange::kChange: break;
  }
  return "change";
}

std::string_view JudgementOf(TrendChange kind) {
  switch (kind) {
    case TrendChange::kImprovement: return ", for the better";
    case TrendChange::kRegression: return ", for the worse";
    case TrendChange::kChange: break;
  }
  return "";
}

std::string DayOf(int64_t unix_ns) { return FormatTimestamp(unix_ns).substr(0, kDayOnly); }

bool IsHash(std::string_view commit) {
  return commit.size() >= kMinHash && commit.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string ShortCommit(std::string_view commit) {
  if (IsHash(commit)) return std::string(commit.substr(0, kShortHash));
  return Ellipsize(Printable(commit), kCommitColumns);
}

// Names a run by date and commit, else by date and time, else by its number from 1.
std::string WhenOf(const Trend& trend, size_t run) {
  const TrendPoint& point = trend.points[run];
  if (!point.unix_ns) return StrCat("value ", run + 1);
  std::string time = FormatTimestamp(*point.unix_ns);
  if (!point.commit.empty()) return StrCat(time.substr(0, kDayOnly), " ", ShortCommit(point.commit));
  time[kDayOnly] = ' ';
  return time.substr(0, kMinuteOnly);
}

// Names that are no hashes may be anything, so they are not put into a command.
std::string CommitsText(const Trend& trend, const ChangePoint& change) {
  if (IsWithinOneCommit(trend, change)) return "the commit is the same before and after";
  const auto range = CommitsOf(trend, change);
  if (!range) return "";
  const std::string after = ShortCommit(range->after), up_to = ShortCommit(range->up_to);
  if (IsHash(range->after) && IsHash(range->up_to)) return StrCat("git log ", after, "..", up_to);
  return StrCat("after ", after, ", up to ", up_to);
}

std::string DriftText(const Trend& trend) {
  const auto all = DriftWorthTelling(trend);
  if (!all) return "";
  const TrendLevel& last = trend.levels.back();
  const std::string_view which = trend.changes.empty() ? "all " : "the last ";
  return StrCat("drifts by ", SignedPercent(*all), " over ", which,
                FormatCount(static_cast<int64_t>(last.end - last.begin)),
                trend.points.front().unix_ns ? " runs" : " values", JudgementOf(KindOf(trend, *trend.drift)));
}

}  // namespace gapless::internal
