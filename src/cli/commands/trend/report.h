// SPDX-License-Identifier: Apache-2.0
// How `gapless trend` shows histories: as text, JSON and pictures.
#pragma once

#include <string>
#include <vector>

#include "proof/trend.h"

namespace gapless::internal {

struct TrendReport {
  std::string place;  // of the history, or the file
  std::vector<Trend> trends;
};

std::string TrendText(const TrendReport& report, bool utf8);
std::string TrendJson(const TrendReport& report);
// A picture of one metric: the runs, their levels, and where they changed. Stands alone, in light and dark.
std::string TrendSvg(const Trend& trend);

}  // namespace gapless::internal
