// SPDX-License-Identifier: Apache-2.0
// The number of simulated series that a test looks at. With GAPLESS_STATISTICS=all (`make test-all` and the schedule)
// it looks at all that its figure was measured with; otherwise at a tenth, which finds what is broken, not what is one
// per cent off.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace gapless::internal {

struct Effort {
  int all;
  int tried;

  // `least`: minimum number of series.
  explicit Effort(int of_all, int least = 1) : all(of_all), tried(of_all) {
    const char* given = std::getenv("GAPLESS_STATISTICS");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
    if (given == nullptr || std::string_view(given) != "all") tried = std::min(all, std::max(least, all / 10));
  }
  // Bounds of a share that holds for all series: those that were tried may differ by 3.1 standard errors, which is once
  // in a thousand times, and by half a series.
  double AtLeast(double share) const { return share - Slack(share); }
  double AtMost(double share) const { return share + Slack(share); }

 private:
  double Slack(double share) const {
    return tried == all ? 0 : 3.1 * std::sqrt(share * (1 - share) / tried) + 0.5 / tried;
  }
};

}  // namespace gapless::internal
