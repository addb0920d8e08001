// SPDX-License-Identifier: Apache-2.0
// Draws the charts of `gapless report`: losses, a step's timeline, and scaling. A chart is 860 × 280 units; legends add
// rows above it, lanes add height.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "report/lab/parts.h"
#include "report/svg.h"

namespace gapless::internal::lab {
namespace {

// Size of a chart and its margins, in units of the SVG; then the number of colours in the style sheet.
constexpr double kWidth = 860, kLeft = 70, kRight = 20, kTop = 40, kBottom = 40, kHeight = 280;
constexpr size_t kColours = 6;

constexpr std::string_view kStyle =
    ".lab polyline{fill:none;stroke-width:1.8}.lab .d{stroke-dasharray:5 4}"
    ".lab .c0{stroke:#3b6fd4}.lab .c1{stroke:#d9822b}.lab .c2{stroke:#1a7f4b}.lab .c3{stroke:#8e44ad}"
    ".lab .c4{stroke:#b42318}.lab .c5{stroke:#7a8594}.lab .b0{fill:#7a8594}.lab .b1{fill:#d9822b}"
    ".lab .b2{fill:#8e44ad}.lab .b3{fill:#3b6fd4}.lab .b4{fill:#1a7f4b}.lab .b5{fill:#b5a12b}.lab .b6{fill:#b42318}";

Svg EmptyPicture(double height, std::string label) {
  return Svg({.width = kWidth, .height = height, .kind = "lab", .label = std::move(label), .style = kStyle});
}

// The scales of a chart.
struct Axes {
  Scale x{.from = kLeft, .to = kWidth - kRight}, y{.from = kHeight - kBottom, .to = kTop};
  std::string PointAt(double at, double value) const {
    return StrCat(SvgNumber(x.At(at)), ",", SvgNumber(y.At(value)));
  }
};

// Returns the class of a curve: its colour, and dashes where all colours are taken.
std::string CurveClass(size_t curve) { return StrCat("c", curve % kColours, curve / kColours % 2 == 1 ? " d" : ""); }

// The name of a curve, and the place of its line in the legend.
struct CurveName {
  std::string name{};
  double x = kLeft, y = 20;
};

// Places names in as many rows as they need.
std::vector<CurveName> LegendOf(const std::vector<std::string>& names) {
  constexpr double kRow = 20, kMark = 28, kApart = 24;
  std::vector<CurveName> legend;
  double x = kLeft, y = 20;
  for (const std::string& whole : names) {
    const std::string name = Ellipsize(Printable(whole), 28);
    const double width = kMark + SvgTextWidth(name);
    if (x > kLeft && x + width > kWidth) x = kLeft, y += kRow;
    legend.push_back({name, x, y});
    x += width + kApart;
  }
  return legend;
}

// Begins a chart: the legend, and below it a group with lines at round values and whole numbers on the other axis,
// which `below` names. The values of the axis are widened to the round ones around them.
Svg BeginChart(std::string label, const std::vector<std::string>& names, std::string_view below, Axes& axes) {
  const std::vector<CurveName> legend = LegendOf(names);
  const double more = legend.empty() ? 0 : legend.back().y - legend.front().y;
  Svg svg = EmptyPicture(kHeight + more, std::move(label));
  for (size_t i = 0; i < legend.size(); ++i) svg.Sample(CurveClass(i), legend[i].x, legend[i].y, legend[i].name);
  svg.OpenGroup(more);
  const double step = TicksWithin(axes.y.low, axes.y.high).step;
  axes.y.low = std::floor(axes.y.low / step) * step, axes.y.high = std::ceil(axes.y.high / step) * step;
  const Ticks values = TicksWithin(axes.y.low, axes.y.high);
  for (const double value : values.at)
    svg.GridLine(kLeft, kWidth - kRight, axes.y.At(value), TickText(value, values.step));
  for (const double place : TicksWithin(axes.x.low, axes.x.high).at)
    if (place == std::floor(place)) svg.Text("s", "middle", axes.x.At(place), kHeight - 22, TickText(place, 1));
  svg.Text("s", "end", kWidth - kRight, kHeight - 4, below);
  return svg;
}

void AddPolyline(size_t curve, std::string& points, Svg& svg) {
  if (!points.empty()) svg.Element("polyline", {{"class", CurveClass(curve)}, {"points", points}});
  points.clear();
}

// Draws a series as lines that break off where a value is missing.
void AddCurve(const Axes& axes, size_t curve, const std::vector<double>& values, Svg& svg) {
  std::string points;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]))
      points += StrCat(points.empty() ? "" : " ", axes.PointAt(static_cast<double>(i), values[i]));
    else
      AddPolyline(curve, points, svg);
  }
  AddPolyline(curve, points, svg);
}

// Heights of a lane, of the gap below it and of the title; then the place where lanes begin.
constexpr double kLane = 22, kGap = 4, kHead = 26, kLaneLeft = 150;

// Draws one step. A span is at least 0.4 units wide, so that a short kernel does not vanish.
void AddLanes(const NamedStep& step, double scale_ns, double top, Svg& svg) {
  svg.Text("h", "start", 8, top + 14, StrCat(Printable(step.name), ": ", FormatDuration(step.picture->dur_ns)));
  double y = top + kHead;
  const Scale x{.low = 0, .high = scale_ns, .from = kLaneLeft, .to = kWidth - kRight};
  for (const PictureLane& lane : step.picture->lanes) {
    svg.Text("s", "end", kLaneLeft - 8, y + kLane - 7, Ellipsize(Printable(lane.name), 20));
    svg.Line("g", kLaneLeft, y + kLane, kWidth - kRight, y + kLane);
    for (const PictureSpan& span : lane.spans) {
      const double begin = x.At(static_cast<double>(span.start_ns));
      const double end = x.At(static_cast<double>(span.start_ns + span.dur_ns));
      svg.Rect(StrCat("b", static_cast<int>(span.bound)), begin, y + 2, std::max(0.4, end - begin), kLane - 4);
    }
    y += kLane + kGap;
  }
}

double HeightOf(const NamedStep& step) {
  return kHead + static_cast<double>(step.picture->lanes.size()) * (kLane + kGap) + 10;
}

// Draws the colours that the lanes use, with their names.
void AddBounds(const std::vector<NamedStep>& steps, double y, Svg& svg) {
  std::vector<bool> used(kBounds, false);
  for (const NamedStep& step : steps)
    for (const PictureLane& lane : step.picture->lanes)
      for (const PictureSpan& span : lane.spans) used[static_cast<size_t>(span.bound)] = true;
  double x = 8;
  for (size_t bound = 0; bound < kBounds; ++bound) {
    if (!used[bound]) continue;
    const std::string_view name = NameOf(static_cast<Bound>(bound));
    svg.Rect(StrCat("b", bound), x, y - 10, 12, 12);
    svg.Text("s", "start", x + 17, y, name);
    x += 17 + SvgTextWidth(name) + 20;
  }
}

}  // namespace

// All series share one scale, as long as the longest and as high as the largest finite loss.
std::string LossSvg(const std::vector<NamedSeries>& series) {
  Axes axes;
  double low = 1e300, high = -1e300, last = 0;
  std::vector<std::string> names;
  for (const NamedSeries& shown : series) {
    size_t seen = 0;
    for (const double value : shown.values) {
      if (!std::isfinite(value)) continue;
      ++seen;
      low = std::min(low, value), high = std::max(high, value);
    }
    if (seen > 1) last = std::max(last, static_cast<double>(shown.values.size() - 1));
    names.push_back(shown.name);
  }
  // No series has two finite values.
  if (!(high >= low) || last < 1) return "";
  // A constant loss needs a range, too.
  axes.y.low = low, axes.y.high = high > low ? high : low + 1;
  axes.x.low = 0, axes.x.high = last;
  Svg svg = BeginChart("loss of each step", names, StrCat("step 0 to ", FormatNumber(last, 0)), axes);
  for (size_t i = 0; i < series.size(); ++i) AddCurve(axes, i, series[i].values, svg);
  svg.CloseGroup();
  return svg.Done();
}

// The longest step fills the width, so that a shorter step is seen to be shorter.
std::string StepsSvg(const std::vector<NamedStep>& steps) {
  double scale_ns = 0, height = 26;
  for (const NamedStep& step : steps) {
    scale_ns = std::max(scale_ns, static_cast<double>(step.picture->dur_ns));
    height += HeightOf(step);
  }
  if (scale_ns <= 0) return "";
  Svg svg = EmptyPicture(height, "a step of each recording on one time axis");
  double top = 6;
  for (const NamedStep& step : steps) {
    AddLanes(step, scale_ns, top, svg);
    top += HeightOf(step);
  }
  AddBounds(steps, height - 8, svg);
  return svg.Done();
}

// The dashed line is ideal scaling: k times the ranks, k times the throughput.
std::string ScalingSvg(const LabScaling& scaling) {
  if (scaling.points.size() < 2) return "";
  const auto first = static_cast<double>(scaling.points.front().ranks);
  const auto last = static_cast<double>(scaling.points.back().ranks);
  Axes axes;
  axes.x.low = first, axes.x.high = last;
  axes.y.low = 0, axes.y.high = last / first;
  for (const LabScalingPoint& point : scaling.points) axes.y.high = std::max(axes.y.high, point.speedup);
  const std::string below = StrCat(scaling.points.front().ranks, " to ", scaling.points.back().ranks, " ranks");
  Svg svg = BeginChart("speedup by number of ranks", {"measured", "ideal"}, below, axes);
  std::string points;
  for (const LabScalingPoint& point : scaling.points)
    points += StrCat(points.empty() ? "" : " ", axes.PointAt(static_cast<double>(point.ranks), point.speedup));
  AddPolyline(0, points, svg);
  svg.Line("c1 d", axes.x.At(first), axes.y.At(1), axes.x.At(last), axes.y.At(last / first));
  svg.CloseGroup();
  return svg.Done();
}

}  // namespace gapless::internal::lab
