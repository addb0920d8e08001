// SPDX-License-Identifier: Apache-2.0
// Prints trends on a terminal: a sparkline, the changes of level with their commits, and drift. The newest twelve
// changes are shown.
//
//   samples_per_second: 40 runs, last 864.0 1/s, higher is better
//       ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁██████████████  814.0 to 864.0 1/s
//       2026-03-13 0000ad4000  +6.0 %  814.0 to 863.1 1/s  improvement
//         git log 0000ad3000..0000ad4000
#include <algorithm>
#include <cmath>

#include "base/order_statistics.h"
#include "base/strings.h"
#include "report/text_table.h"
#include "report/trend/report.h"
#include "report/trend/words.h"

namespace gapless::internal {
namespace {

constexpr size_t kSparkWidth = 44, kMaxChanges = 12, kMinRuns = 10;
constexpr int kNameWidth = 40;

// Returns the medians of the series in as many stretches as fit, at most one per run: a median hides single outliers.
std::vector<double> Heights(const Trend& trend) {
  const size_t count = trend.points.size(), cells = std::min(count, kSparkWidth);
  std::vector<double> heights;
  for (size_t i = 0; i < cells; ++i) {
    std::vector<double> part;
    for (size_t k = i * count / cells; k < (i + 1) * count / cells; ++k) part.push_back(trend.points[k].value);
    heights.push_back(UpperMedian(part));
  }
  return heights;
}

// Draws the stretches as blocks between their lowest and highest median; a constant series is drawn at half height.
std::string Spark(const Trend& trend, bool utf8) {
  static constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view kPlain[] = {"_", "_", ".", ".", "-", "-", "^", "^"};
  const std::vector<double> heights = Heights(trend);
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  const double range = *high / 2 - *low / 2;  // halves: the range of doubles is no double
  std::string out;
  for (const double height : heights) {
    const double share = range > 0 ? (height / 2 - *low / 2) / range : 0.5;
    const auto level = static_cast<size_t>(std::clamp(share * 7.999, 0.0, 7.0));
    out += utf8 ? kBlocks[level] : kPlain[level];
  }
  if (range > 0) out += StrCat("  ", FromTo(*low, *high, trend.unit));
  return out;
}

// Returns the lines below a change: its commits, else the runs between which it lies, and other metrics that changed
// then.
std::string Detail(const Trend& trend, size_t number) {
  const ChangePoint& change = trend.changes[number];
  std::string text = CommitsText(trend, change);
  if (text.empty() && change.first != change.last)
    text = StrCat("between ", WhenOf(trend, change.first), " and ", WhenOf(trend, change.last));
  if (!text.empty()) text = StrCat("      ", text, "\n");
  if (number < trend.also_changed.size())
    for (const std::string& other : trend.also_changed[number])
      text += StrCat("      also changed: ", Ellipsize(Printable(other), 60), "\n");
  return text;
}

// Lists the changes in aligned columns.
std::string ChangesText(const Trend& trend) {
  const size_t count = trend.changes.size(), begin = count > kMaxChanges ? count - kMaxChanges : 0;
  size_t when = 0, size = 0, levels = 0;
  const auto widen = [](size_t& width, const std::string& text) {
    width = std::max(width, static_cast<size_t>(DisplayWidth(text)));
  };
  for (size_t i = begin; i < count; ++i) {
    const ChangePoint& change = trend.changes[i];
    widen(when, WhenOf(trend, change.index));
    widen(size, SizeOf(change));
    widen(levels, FromTo(change.before, change.after, trend.unit));
  }
  std::string text;
  if (begin > 0) text += StrCat("    ", begin, " earlier changes are left out here; --json and --html have them\n");
  for (size_t i = begin; i < count; ++i) {
    const ChangePoint& change = trend.changes[i];
    text += StrCat("    ", Padded(WhenOf(trend, change.index), when, false), "  ", Padded(SizeOf(change), size, true),
                   "  ", Padded(FromTo(change.before, change.after, trend.unit), levels, false), "  ",
                   WordOf(KindOf(trend, change)), "\n", Detail(trend, i));
  }
  return text;
}

// Describes one metric. Below ten runs "no change" would claim more than the method can see.
std::string Metric(const TrendReport& report, const Trend& trend, bool utf8) {
  const size_t runs = trend.points.size();
  std::string text = StrCat(Ellipsize(Printable(trend.metric), kNameWidth), ": ",
                            FormatCount(static_cast<int64_t>(runs)), report.is_history ? " run" : " value",
                            runs == 1 ? "" : "s", ", last ", AmountOf(trend.points.back().value, trend.unit));
  if (trend.higher_is_better) text += *trend.higher_is_better ? ", higher is better" : ", lower is better";
  text += StrCat("\n    ", Spark(trend, utf8), "\n", ChangesText(trend));
  if (runs < kMinRuns)
    text += StrCat("    too few to find a change of level; needs at least ", kMinRuns, "\n");
  else if (trend.changes.empty())
    text += "    no change of level\n";
  if (const std::string drift = DriftText(trend); !drift.empty()) text += StrCat("    ", drift, "\n");
  return text;
}

}  // namespace

// Names the series and its span over all metrics; times that were not recorded are left out.
std::string TrendHeading(const TrendReport& report) {
  if (!report.is_history) return Printable(report.place);
  std::string text = StrCat(FormatCount(static_cast<int64_t>(report.runs)), report.runs == 1 ? " run" : " runs");
  if (!report.benchmark.empty()) text += StrCat(" of ", Printable(report.benchmark));
  if (!report.branch.empty()) text += StrCat(" on ", Printable(report.branch));
  std::optional<int64_t> first, last;
  for (const Trend& trend : report.trends) {
    const auto begin = trend.points.front().unix_ns, end = trend.points.back().unix_ns;
    if (begin && (!first || *begin < *first)) first = begin;
    if (end && (!last || *end > *last)) last = end;
  }
  if (first && last)
    text += StrCat(", ", DayOf(*first), DayOf(*first) == DayOf(*last) ? "" : StrCat(" to ", DayOf(*last)));
  return text;
}

std::string TrendText(const TrendReport& report, bool utf8) {
  std::string text;
  if (report.trends.empty()) {
    text = StrCat("no runs in ", Printable(report.place), "\n");
  } else {
    text = TrendHeading(report) + "\n";
  }
  for (const std::string& note : report.notes) text += StrCat("  ", Printable(note), "\n");
  for (const Trend& trend : report.trends) text += StrCat("\n", Metric(report, trend, utf8));
  if (utf8) return text;
  std::string plain;  // "µs" is the only text here that is not ASCII
  for (size_t at = 0; at < text.size(); ++at) {
    const bool micro = text.compare(at, 2, "µ") == 0;
    plain += micro ? 'u' : text[at];
    at += micro ? 1 : 0;
  }
  return plain;
}

}  // namespace gapless::internal
