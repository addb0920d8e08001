// SPDX-License-Identifier: Apache-2.0
// The output of `gapless trend`: text, JSON, SVG pictures and an HTML page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/json_writer.h"
#include "proof/trend.h"

namespace gapless::internal {

// All that the formats of a trend show.
struct TrendReport {
  std::string place{};                // path of the history, or of the file
  std::string branch{}, benchmark{};  // empty: not recorded
  bool is_history = true;             // false: a file of bare series
  size_t runs = 0;                    // that any metric could have a value of
  size_t other_benchmarks = 0, other_machines = 0;
  std::vector<std::string> notes{};  // what was left out, and what to know
  std::vector<Trend> trends{};       // with points
};

// "300 runs of resnet50 on main, 2026-01-01 to 2026-10-28"; of a file its name.
std::string TrendHeading(const TrendReport& report);
// At most 80 columns, as long as names are not longer.
std::string TrendText(const TrendReport& report, bool utf8);
// The document of --json. Numbers are in the metric's own unit.
extern const TypeInfo kTrendDocument;
std::string TrendJson(const TrendReport& report);
void WriteTrend(JsonWriter& json, const TrendReport& report);
// A picture with a panel for each metric: the runs, their levels, and where they changed. Stands alone, in light and
// dark, and stays below some 300 kB a panel however many runs there are.
std::string TrendSvg(const TrendReport& report);
// The data of the page, as web/src/trend/data.ts reads them: the document, and its words.
std::string TrendPageData(const TrendReport& report);
// A page for a browser that needs nothing else.
std::string TrendHtml(const TrendReport& report);

}  // namespace gapless::internal
