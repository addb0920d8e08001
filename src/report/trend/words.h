// SPDX-License-Identifier: Apache-2.0
// Values, times and commits of trends as people read them. What comes from a history is untrusted; what these give is
// printable.
#pragma once

#include <string>
#include <string_view>

#include "proof/trend.h"

namespace gapless::internal {

// The unit in which values of this size are shown: seconds as "ms" or "µs", bytes as "GB".
struct ShownUnit {
  double size = 1;  // in the metric's own unit
  std::string name{};
};
ShownUnit ShownUnitOf(double largest, std::string_view unit);

// Four digits that mean something: "871.2", "12,340", "0.02114", "1.234e+18".
std::string FourDigits(double value);
// "871.2 1/s", "24.80 µs".
std::string AmountOf(double value, std::string_view unit);
// In one unit: "24.80 to 40.12 µs".
std::string FromTo(double before, double after, std::string_view unit);

std::string SignedPercent(double share);             // "+8.1 %"
std::string SizeOf(const ChangePoint& change);       // likewise; "" when the level was 0
std::string_view WordOf(TrendChange kind);           // "improvement", "regression", "change"
std::string_view JudgementOf(TrendChange kind);      // ", for the better", ", for the worse", ""
std::string DayOf(int64_t unix_ns);                  // "2026-03-04"
std::string ShortCommit(std::string_view commit);    // ten digits of a hash; other names as they are, cut
bool IsHash(std::string_view commit);                // at least seven hexadecimal digits, nothing else
std::string WhenOf(const Trend& trend, size_t run);  // "2026-03-04 3f2a91c0de", "2026-03-04 12:30", "value 17"

// Returns the commits that may have caused a change, as a `git log` range if they are hashes; "" if they are unknown.
std::string CommitsText(const Trend& trend, const ChangePoint& change);
// Returns "drifts by -1.9 % over the last 120 runs, for the worse"; "" if there is no drift to report.
std::string DriftText(const Trend& trend);

}  // namespace gapless::internal
