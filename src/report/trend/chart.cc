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
#include "report/trend/report.h"
#include "report/trend/view.h"
#include "report/trend/words.h"

namespace gapless::internal {
namespace {

// Size of a panel and its margins, in units of the SVG; then sizes within it, and limits on what is drawn.
constexpr double kWidth = 900, kHeight = 290, kMinLeft = 76, kRight = 16, kTop = 60, kBottom = 34;
constexpr double kBin = 2, kLetter = 6.9, kLabelGap = 8, kTick = 8;
constexpr size_t kMaxPoints = 1500, kMaxTitles = 500, kMaxLabels = 24;
constexpr size_t kDates = 6;
constexpr int kTitleColumns = 46;

// Light unless the viewer prefers dark. Dashes and the sign distinguish better from worse without colour, too.
constexpr std::string_view kChartStyle =
    "<style>.gapless-trend{--ink:#16202b;--soft:#566270;--grid:#dfe3e8;--run:#6f93c4;--level:#1f5fa8;--worse:#b42318;"
    "--better:#18794e;--back:#ffffff}"
    "@media(prefers-color-scheme:dark){.gapless-trend{--ink:#e7ecf2;--soft:#9eacba;--grid:#2a3441;--run:#5d82b8;"
    "--level:#9cc4f7;--worse:#ff8a7a;--better:#5fcf92;--back:#161d26}}"
    ".gapless-trend text{font:12px Inter,system-ui,sans-serif;fill:var(--ink)}.gapless-trend .s{fill:var(--soft)}"
    ".gapless-trend .h{font-weight:600}.gapless-trend .g{stroke:var(--grid)}.gapless-trend .p{fill:var(--run)}"
    ".gapless-trend .o{fill:none;stroke:var(--run)}.gapless-trend "
    ".e{stroke:var(--run);stroke-width:2;opacity:.3;fill:none}"
    ".gapless-trend .m{stroke:var(--run);stroke-width:2;fill:none}.gapless-trend .l{stroke:var(--level);stroke-width:2}"
    ".gapless-trend .d{stroke:var(--level);stroke-dasharray:6 4}"
    ".gapless-trend .w{stroke:var(--worse);stroke-dasharray:5 3}.gapless-trend "
    ".b{stroke:var(--better);stroke-dasharray:1.5 3}"
    ".gapless-trend .c{stroke:var(--soft);stroke-dasharray:2 2}.gapless-trend .wt{fill:var(--worse)}"
    ".gapless-trend .bt{fill:var(--better)}.gapless-trend .ct{fill:var(--ink)}</style>";

std::string At(double value) { return FormatNumber(value, 1); }

std::string Line(std::string_view kind, double x1, double y1, double x2, double y2) {
  return StrCat("<line class=\"", kind, "\" x1=\"", At(x1), "\" y1=\"", At(y1), "\" x2=\"", At(x2), "\" y2=\"", At(y2),
                "\"/>\n");
}

std::string Text(std::string_view kind, std::string_view anchor, double x, double y, std::string_view text) {
  return StrCat("<text class=\"", kind, "\" text-anchor=\"", anchor, "\" x=\"", At(x), "\" y=\"", At(y), "\">",
                XmlEscaped(text), "</text>\n");
}

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
  void SetLeft(double left) { left_ = left; }

  std::string Draw() const { return StrCat(Title(), Axis(), Dates(), Runs(), Levels(), Changes(), DriftLine()); }

 private:
  double X(double run) const {
    const auto last = static_cast<double>(trend_.points.size() - 1);
    return left_ + (kWidth - left_ - kRight) * (last > 0 ? run / last : 0.5);
  }
  double X(size_t run) const { return X(static_cast<double>(run)); }
  // Returns the x coordinate at which a level begins, between two runs.
  double Edge(size_t run) const {
    return run == 0 ? left_ : run == trend_.points.size() ? kWidth - kRight : X(static_cast<double>(run) - 0.5);
  }
  double Y(double value) const {
    return kTop + (kHeight - kTop - kBottom) * (1 - std::clamp(view_.ShareOf(value), 0.0, 1.0));
  }
  bool IsBeyond(double value) const { return value < view_.low || value > view_.high; }

  std::string Title() const;
  std::string Axis() const;
  std::string Dates() const;
  std::string Runs() const { return trend_.points.size() > kMaxPoints ? Bins() : Points(); }
  std::string Points() const;
  std::string Bins() const;
  std::string Levels() const;
  std::string Changes() const;
  std::string Mark(const ChangePoint& change, double bottom) const;
  std::string Label(const ChangePoint& change, std::vector<std::pair<double, double>>& taken) const;
  std::string DriftLine() const;

  const Trend& trend_;
  TrendView view_;
  double left_ = kMinLeft;
};

double Panel::Left() const {
  double left = kMinLeft;
  for (const double tick : view_.ticks) left = std::max(left, kLetter * DisplayWidth(view_.TickText(tick)) + 16);
  return left;
}

// Draws the name with its unit, and the legend from right to left.
std::string Panel::Title() const {
  std::string title = Ellipsize(Printable(trend_.metric), kTitleColumns);
  if (!view_.unit.name.empty()) title += StrCat(", ", Ellipsize(view_.unit.name, kTitleColumns / 3));
  std::string out = Text("h", "start", left_, 18, title);
  double x = kWidth - kRight;
  const auto sample = [&](std::string_view kind, std::string_view word, double width) {
    x -= width;
    out += Line(kind, x, 14, x + 22, 14) + Text("s", "start", x + 28, 18, word);
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
  if (beyond > 0) out += Text("s", "end", x - 14, 18, StrCat(beyond, " beyond the axis, at its edge"));
  return out;
}

// Draws a line and a label per tick.
std::string Panel::Axis() const {
  std::string out;
  for (const double tick : view_.ticks) {
    out += Line("g", left_, Y(tick), kWidth - kRight, Y(tick));
    out += Text("s", "end", left_ - 8, Y(tick) + 4, view_.TickText(tick));
  }
  return out;
}

// Labels some runs with dates, or with their numbers where times are not known; equal labels are drawn once. The ends
// come first.
std::string Panel::Dates() const {
  const size_t last = trend_.points.size() - 1;
  const auto &first = trend_.points.front().unix_ns, &end = trend_.points[last].unix_ns;
  const bool within_a_day = first && end && DayOf(*first) == DayOf(*end);
  std::vector<size_t> runs = {0, last};
  for (size_t i = 1; i + 1 < kDates; ++i) runs.push_back(last * i / (kDates - 1));
  std::vector<std::string> labels;
  std::vector<std::pair<double, double>> taken;
  std::string out;
  for (const size_t run : runs) {
    const auto& time = trend_.points[run].unix_ns;
    std::string text = !time ? StrCat(run + 1) : within_a_day ? FormatTimestamp(*time).substr(11, 5) : DayOf(*time);
    const double half = kLetter * DisplayWidth(text) / 2;
    const double x = std::clamp(X(run), left_ + half, kWidth - kRight - half);
    if (std::find(labels.begin(), labels.end(), text) != labels.end() || !Reserve(taken, x, half)) continue;
    out += Text("s", "middle", x, kHeight - 12, text);
    labels.push_back(std::move(text));
  }
  return out;
}

// Draws a circle per run, hollow if it is beyond the axis; up to 500 of them have a title with time and value.
std::string Panel::Points() const {
  const bool few = trend_.points.size() <= kMaxTitles;
  const std::string radius = few ? "2.4" : "1.5";
  std::string out;
  for (size_t i = 0; i < trend_.points.size(); ++i) {
    const double value = trend_.points[i].value;
    out += StrCat("<circle class=\"", IsBeyond(value) ? "o" : "p", "\" r=\"", radius, "\" cx=\"", At(X(i)), "\" cy=\"",
                  At(Y(value)), "\"");
    out += few ? StrCat("><title>", XmlEscaped(WhenOf(trend_, i)), ": ", XmlEscaped(AmountOf(value, trend_.unit)),
                        "</title></circle>\n")
               : "/>\n";
  }
  return out;
}

// Draws what falls into the same two units as one stroke for all values and one for the middle half: the size of the
// picture is bounded by its width, not by the number of runs.
std::string Panel::Bins() const {
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
    const std::string x = At((X(begin) + X(end - 1)) / 2);
    const auto span = [&](std::string& path, size_t from, size_t to) {
      // A stroke of no length would not be seen.
      path += StrCat("M", x, " ", At(heights[from] - 0.5), "V", At(heights[to] + 0.5));
    };
    span(all, 0, heights.size() - 1);
    span(middle, heights.size() / 4, heights.size() - 1 - heights.size() / 4);
    begin = end;
  }
  return StrCat("<path class=\"e\" d=\"", all, "\"/>\n<path class=\"m\" d=\"", middle, "\"/>\n");
}

// Draws each level between the edges of its runs.
std::string Panel::Levels() const {
  std::string out;
  for (const TrendLevel& level : trend_.levels) {
    if (&level == &trend_.levels.back() && DriftWorthTelling(trend_)) break;  // its line is drawn instead
    out += Line("l", Edge(level.begin), Y(level.value), Edge(level.end), Y(level.value));
  }
  return out;
}

// Names the largest changes first, as many as find room. Where there are more changes than labels, the others are short
// ticks at the top.
std::string Panel::Changes() const {
  std::vector<size_t> order(trend_.changes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto size = [&](size_t i) { return std::abs(trend_.changes[i].relative_change.value_or(0)); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return size(a) > size(b); });
  std::vector<std::pair<double, double>> taken;
  std::string out;
  for (const size_t i : order) {
    const std::string label = taken.size() < kMaxLabels ? Label(trend_.changes[i], taken) : "";
    const bool is_tick = label.empty() && order.size() > kMaxLabels;
    out += Mark(trend_.changes[i], is_tick ? kTop + kTick : kHeight - kBottom) + label;
  }
  return out;
}

// Draws the line of a change, with a title that says everything about it.
std::string Panel::Mark(const ChangePoint& change, double bottom) const {
  const TrendChange kind = KindOf(trend_, change);
  const std::string commits = CommitsText(trend_, change);
  return StrCat("<g><title>", XmlEscaped(WhenOf(trend_, change.index)), ": ", SizeOf(change), ", ",
                XmlEscaped(FromTo(change.before, change.after, trend_.unit)), ", ", WordOf(kind),
                commits.empty() ? "" : "; ", XmlEscaped(commits), "</title>\n",
                Line(ClassOf(kind), Edge(change.index), kTop, Edge(change.index), bottom), "</g>\n");
}

// Returns the size and the commit of a change; "" if there is no room.
std::string Panel::Label(const ChangePoint& change, std::vector<std::pair<double, double>>& taken) const {
  const std::string share = SizeOf(change), commit = ShortCommit(trend_.points[change.index].commit);
  const double half = kLetter * std::max(DisplayWidth(share), DisplayWidth(commit)) / 2;
  const double x = std::clamp(Edge(change.index), left_ + half, kWidth - kRight - half);
  if (half == 0 || !Reserve(taken, x, half)) return "";
  std::string out;
  if (!share.empty()) out += Text(StrCat(ClassOf(KindOf(trend_, change)), "t h"), "middle", x, kTop - 20, share);
  if (!commit.empty()) out += Text("s", "middle", x, kTop - 6, commit);
  return out;
}

// Draws the line that the last level drifts along.
std::string Panel::DriftLine() const {
  if (!DriftWorthTelling(trend_)) return "";
  const TrendLevel& last = trend_.levels.back();
  return StrCat("<g><title>", XmlEscaped(DriftText(trend_)), "</title>\n",
                Line("d", X(last.begin), Y(trend_.drift_line->from), X(last.end - 1), Y(trend_.drift_line->to)),
                "</g>\n");
}

}  // namespace

// Panels are stacked; the description for screen readers counts runs and changes.
std::string TrendSvg(const TrendReport& report) {
  const auto panels = static_cast<double>(std::max<size_t>(report.trends.size(), 1));
  std::vector<std::string> descriptions;
  for (const Trend& trend : report.trends)
    descriptions.push_back(
        StrCat(Printable(trend.metric), ": ", trend.points.size(), " runs, changes of level: ", trend.changes.size()));
  std::string out = StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gapless-trend\" viewBox=\"0 0 ", kWidth,
                           " ", kHeight * panels, "\" role=\"img\" aria-label=\"", XmlEscaped(Join(descriptions, "; ")),
                           "\">\n", kChartStyle, "\n<rect width=\"100%\" height=\"100%\" fill=\"var(--back)\"/>\n");
  std::vector<Panel> drawn;
  double left = 0;
  for (const Trend& trend : report.trends) left = std::max(left, drawn.emplace_back(trend).Left());
  for (size_t i = 0; i < drawn.size(); ++i) {
    drawn[i].SetLeft(left);
    out += StrCat("<g transform=\"translate(0 ", At(kHeight * static_cast<double>(i)), ")\">\n", drawn[i].Draw(),
                  "</g>\n");
  }
  return out + "</svg>\n";
}

}  // namespace gapless::internal
