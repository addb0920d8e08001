// SPDX-License-Identifier: Apache-2.0
// The picture: one panel for each metric, of runs from left to right. A few hundred runs are a point each. Beyond that
// points would be one grey cloud, so what falls into the same two pixels is drawn as what its middle half spans, and
// fainter as what all of it spans. The axis spans what matters: an outlier of a thousand times the level would press
// everything else into one line, so it is drawn hollow at the edge.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/strings.h"
#include "base/timestamp.h"
#include "report/svg.h"
#include "report/trend/report.h"
#include "report/trend/view.h"
#include "report/trend/words.h"

namespace gapless::internal {
namespace {

// Size of a panel and its margins, in units of the SVG; then sizes within it, and limits on what is drawn.
constexpr double kWidth = 900, kHeight = 290, kMinLeft = 76, kRight = 16, kTop = 60, kBottom = 34;
constexpr double kBin = 2, kLabelGap = 8, kTick = 8;
constexpr size_t kMaxPoints = 1500, kMaxTitles = 500, kMaxLabels = 24;
constexpr size_t kDates = 6;
constexpr int kTitleColumns = 46;

// Dashes and the sign distinguish better from worse without colour, too.
constexpr std::string_view kChartStyle =
    ".gapless-trend{--run:#6f93c4;--level:#1f5fa8;--worse:#b42318;--better:#18794e}"
    "@media(prefers-color-scheme:dark){.gapless-trend{--run:#5d82b8;--level:#9cc4f7;--worse:#ff8a7a;--better:#5fcf92}}"
    ".gapless-trend .p{fill:var(--run)}.gapless-trend .o{fill:none;stroke:var(--run)}"
    ".gapless-trend .e{stroke:var(--run);stroke-width:2;opacity:.3;fill:none}"
    ".gapless-trend .m{stroke:var(--run);stroke-width:2;fill:none}.gapless-trend .l{stroke:var(--level);stroke-width:2}"
    ".gapless-trend .d{stroke:var(--level);stroke-dasharray:6 4}"
    ".gapless-trend .w{stroke:var(--worse);stroke-dasharray:5 3}"
    ".gapless-trend .b{stroke:var(--better);stroke-dasharray:1.5 3}"
    ".gapless-trend .c{stroke:var(--soft);stroke-dasharray:2 2}.gapless-trend .wt{fill:var(--worse)}"
    ".gapless-trend .bt{fill:var(--better)}";

std::string_view ClassOf(TrendChange kind) {
  return kind == TrendChange::kRegression ? "w" : kind == TrendChange::kImprovement ? "b" : "c";
}

// Takes the room [x − half, x + half] for a label and returns true, unless another label is there.
bool Reserve(std::vector<std::pair<double, double>>& taken, double x, double half) {
  const auto overlaps = [&](const auto& other) {
    return x - half < other.second + kLabelGap && x + half > other.first - kLabelGap;
  };
  if (std::any_of(taken.begin(), taken.end(), overlaps)) return false;
  taken.emplace_back(x - half, x + half);
  return true;
}

// Draws one metric. The trend has points and outlives the panel.
class Panel {
 public:
  explicit Panel(const Trend& trend) : trend_(trend), view_(ViewOf(trend)) {}

  // The room that the axis takes; the widest axis sets it for all panels, so that their runs align.
  double Left() const;
  void SetLeft(double left) { x_.from = left; }

  void Draw(Svg& svg) const {
    Title(svg), Axis(svg), Dates(svg);
    trend_.points.size() > kMaxPoints ? Bins(svg) : Points(svg);
    Levels(svg), Changes(svg), DriftLine(svg);
  }

 private:
  double X(size_t run) const { return x_.At(static_cast<double>(run)); }
  // Returns the x coordinate at which a level begins, between two runs.
  double Edge(size_t run) const {
    return run == 0 ? x_.from : run == trend_.points.size() ? x_.to : x_.At(static_cast<double>(run) - 0.5);
  }
  double Y(double value) const { return y_.At(std::clamp(value, view_.low, view_.high)); }
  bool IsBeyond(double value) const { return value < view_.low || value > view_.high; }

  void Title(Svg& svg) const;
  void Axis(Svg& svg) const;
  void Dates(Svg& svg) const;
  void Points(Svg& svg) const;
  void Bins(Svg& svg) const;
  void Levels(Svg& svg) const;
  void Changes(Svg& svg) const;
  void Mark(const ChangePoint& change, double bottom, Svg& svg) const;
  bool Label(const ChangePoint& change, std::vector<std::pair<double, double>>& taken, Svg& svg) const;
  void DriftLine(Svg& svg) const;

  const Trend& trend_;
  TrendView view_;
  Scale x_{.low = 0, .high = static_cast<double>(trend_.points.size() - 1), .from = kMinLeft, .to = kWidth - kRight};
  Scale y_{.low = view_.low, .high = view_.high, .from = kHeight - kBottom, .to = kTop};
};

double Panel::Left() const {
  double left = kMinLeft;
  for (const double tick : view_.ticks.at) left = std::max(left, SvgTextWidth(view_.LabelOf(tick)) + 16);
  return left;
}

// Draws the name with its unit, and the legend from right to left.
void Panel::Title(Svg& svg) const {
  std::string title = Ellipsize(Printable(trend_.metric), kTitleColumns);
  if (!view_.unit.name.empty()) title += StrCat(", ", Ellipsize(view_.unit.name, kTitleColumns / 3));
  svg.Text("h", "start", x_.from, 18, title);
  double x = x_.to;
  const auto sample = [&](std::string_view kind, std::string_view word, double width) {
    x -= width;
    svg.Sample(kind, x, 14, word);
  };
  if (trend_.higher_is_better) {
    sample("b", "improvement", 112);
    sample("w", "regression", 100);
  } else {
    sample("c", "change", 82);
  }
  sample("l", "level", 68);
  const auto beyond = std::count_if(trend_.points.begin(), trend_.points.end(),
                                    [&](const TrendPoint& point) { return IsBeyond(point.value); });
  if (beyond > 0) svg.Text("s", "end", x - 14, 18, StrCat(beyond, " beyond the axis, at its edge"));
}

void Panel::Axis(Svg& svg) const {
  for (const double tick : view_.ticks.at) svg.GridLine(x_.from, x_.to, Y(tick), view_.LabelOf(tick));
}

// Labels some runs with dates, or with their numbers where times are not known; equal labels are drawn once. The ends
// come first.
void Panel::Dates(Svg& svg) const {
  const size_t last = trend_.points.size() - 1;
  const auto &first = trend_.points.front().unix_ns, &end = trend_.points[last].unix_ns;
  const bool within_a_day = first && end && DayOf(*first) == DayOf(*end);
  std::vector<size_t> runs = {0, last};
  for (size_t i = 1; i + 1 < kDates; ++i) runs.push_back(last * i / (kDates - 1));
  std::vector<std::string> labels;
  std::vector<std::pair<double, double>> taken;
  for (const size_t run : runs) {
    const auto& time = trend_.points[run].unix_ns;
    std::string text = !time ? StrCat(run + 1) : within_a_day ? FormatTimestamp(*time).substr(11, 5) : DayOf(*time);
    const double half = SvgTextWidth(text) / 2;
    const double x = std::clamp(X(run), x_.from + half, x_.to - half);
    if (std::find(labels.begin(), labels.end(), text) != labels.end() || !Reserve(taken, x, half)) continue;
    svg.Text("s", "middle", x, kHeight - 12, text);
    labels.push_back(std::move(text));
  }
}

// Draws a circle per run, hollow if it is beyond the axis; up to 500 of them have a title with time and value.
void Panel::Points(Svg& svg) const {
  const bool few = trend_.points.size() <= kMaxTitles;
  for (size_t i = 0; i < trend_.points.size(); ++i) {
    const double value = trend_.points[i].value;
    svg.Circle(IsBeyond(value) ? "o" : "p", X(i), Y(value), few ? 2.4 : 1.5,
               few ? StrCat(WhenOf(trend_, i), ": ", AmountOf(value, trend_.unit)) : "");
  }
}

// Draws what falls into the same two units as one stroke for all values and one for the middle half: the size of the
// picture is bounded by its width, not by the number of runs.
void Panel::Bins(Svg& svg) const {
  std::string all, middle;
  std::vector<double> heights;
  size_t begin = 0;
  const size_t count = trend_.points.size();
  while (begin < count) {
    const double edge = X(begin) + kBin;
    heights.clear();
    size_t end = begin;
    for (; end < count && X(end) < edge; ++end) heights.push_back(Y(trend_.points[end].value));
    std::sort(heights.begin(), heights.end());
    const std::string x = SvgNumber((X(begin) + X(end - 1)) / 2);
    const auto span = [&](std::string& path, size_t from, size_t to) {
      // A stroke of no length would not be seen.
      path += StrCat("M", x, " ", SvgNumber(heights[from] - 0.5), "V", SvgNumber(heights[to] + 0.5));
    };
    span(all, 0, heights.size() - 1);
    span(middle, heights.size() / 4, heights.size() - 1 - heights.size() / 4);
    begin = end;
  }
  svg.Element("path", {{"class", "e"}, {"d", all}});
  svg.Element("path", {{"class", "m"}, {"d", middle}});
}

// Draws each level between the edges of its runs.
void Panel::Levels(Svg& svg) const {
  for (const TrendLevel& level : trend_.levels) {
    if (&level == &trend_.levels.back() && DriftWorthTelling(trend_)) break;  // its line is drawn instead
    svg.Line("l", Edge(level.begin), Y(level.value), Edge(level.end), Y(level.value));
  }
}

// Names the largest changes first, as many as find room. Where there are more changes than labels, the others are short
// ticks at the top.
void Panel::Changes(Svg& svg) const {
  std::vector<size_t> order(trend_.changes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto size = [&](size_t i) { return std::abs(trend_.changes[i].relative_change.value_or(0)); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return size(a) > size(b); });
  std::vector<std::pair<double, double>> taken;
  for (const size_t i : order) {
    const bool has_label = taken.size() < kMaxLabels && Label(trend_.changes[i], taken, svg);
    const bool is_tick = !has_label && order.size() > kMaxLabels;
    Mark(trend_.changes[i], is_tick ? kTop + kTick : kHeight - kBottom, svg);
  }
}

// Draws the line of a change, with a title that says everything about it.
void Panel::Mark(const ChangePoint& change, double bottom, Svg& svg) const {
  const TrendChange kind = KindOf(trend_, change);
  const std::string commits = CommitsText(trend_, change);
  svg.Line(
      ClassOf(kind), Edge(change.index), kTop, Edge(change.index), bottom,
      StrCat(WhenOf(trend_, change.index), ": ", SizeOf(change), ", ", FromTo(change.before, change.after, trend_.unit),
             ", ", WordOf(kind), commits.empty() ? "" : "; ", commits));
}

// Draws the size and the commit of a change; returns false if there is nothing to say or no room.
bool Panel::Label(const ChangePoint& change, std::vector<std::pair<double, double>>& taken, Svg& svg) const {
  const std::string share = SizeOf(change), commit = ShortCommit(trend_.points[change.index].commit);
  const double half = std::max(SvgTextWidth(share), SvgTextWidth(commit)) / 2;
  const double x = std::clamp(Edge(change.index), x_.from + half, x_.to - half);
  if (half == 0 || !Reserve(taken, x, half)) return false;
  if (!share.empty()) svg.Text(StrCat(ClassOf(KindOf(trend_, change)), "t h"), "middle", x, kTop - 20, share);
  if (!commit.empty()) svg.Text("s", "middle", x, kTop - 6, commit);
  return true;
}

// Draws the line that the last level drifts along.
void Panel::DriftLine(Svg& svg) const {
  if (!DriftWorthTelling(trend_)) return;
  const TrendLevel& last = trend_.levels.back();
  svg.Line("d", X(last.begin), Y(trend_.drift_line->from), X(last.end - 1), Y(trend_.drift_line->to),
           DriftText(trend_));
}

}  // namespace

// Panels are stacked; the description for screen readers counts runs and changes.
std::string TrendSvg(const TrendReport& report) {
  const auto panels = static_cast<double>(std::max<size_t>(report.trends.size(), 1));
  std::vector<std::string> descriptions;
  for (const Trend& trend : report.trends)
    descriptions.push_back(
        StrCat(Printable(trend.metric), ": ", trend.points.size(), " runs, changes of level: ", trend.changes.size()));
  Svg svg({.width = kWidth,
           .height = kHeight * panels,
           .kind = "gapless-trend",
           .label = TrendHeading(report),
           .details = Join(descriptions, "; "),
           .style = kChartStyle});
  std::vector<Panel> drawn;
  double left = 0;
  for (const Trend& trend : report.trends) left = std::max(left, drawn.emplace_back(trend).Left());
  for (size_t i = 0; i < drawn.size(); ++i) {
    drawn[i].SetLeft(left);
    svg.OpenGroup(kHeight * static_cast<double>(i));
    drawn[i].Draw(svg);
    svg.CloseGroup();
  }
  return svg.Done();
}

}  // namespace gapless::internal
