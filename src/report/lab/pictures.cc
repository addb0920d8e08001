// SPDX-License-Identifier: Apache-2.0
// Draws the charts of `gapless report` as SVG: losses, a step's timeline, and scaling.
//
// An SVG stands alone, in a file or in a page, so each has its style sheet; all classes are below .gl, so that the
// styles of several pictures in one page do not meet those of the page. Coordinates have one decimal. A chart is 860 ×
// 280 units; legends add rows above it, lanes add height.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "report/lab/parts.h"

namespace gapless::internal::lab {
namespace {

// Size of a chart and its margins, in units of the SVG; then the number of colours in the style sheet.
constexpr double kWidth = 860, kLeft = 70, kRight = 20, kTop = 40, kBottom = 40, kHeight = 280;
constexpr size_t kColours = 6;

// Light unless the viewer prefers dark.
constexpr std::string_view kStyle =
    "<style>.gl{--ink:#16202b;--soft:#566270;--grid:#dfe3e8;--back:#fff}"
    "@media(prefers-color-scheme:dark){.gl{--ink:#e7ecf2;--soft:#9eacba;--grid:#2a3441;--back:#161d26}}"
    ".gl text{font:12px system-ui,sans-serif;fill:var(--ink)}.gl .s{fill:var(--soft)}.gl .h{font-weight:600}"
    ".gl .g{stroke:var(--grid)}.gl polyline{fill:none;stroke-width:1.8}.gl .d{stroke-dasharray:5 4}"
    ".gl .c0{stroke:#3b6fd4}.gl .c1{stroke:#d9822b}.gl .c2{stroke:#1a7f4b}.gl .c3{stroke:#8e44ad}.gl "
    ".c4{stroke:#b42318}"
    ".gl .c5{stroke:#7a8594}.gl .b0{fill:#7a8594}.gl .b1{fill:#d9822b}.gl .b2{fill:#8e44ad}.gl .b3{fill:#3b6fd4}.gl "
    ".b4{fill:#1a7f4b}.gl .b5{fill:#b5a12b}.gl .b6{fill:#b42318}</style>\n";

std::string At(double value) { return FormatNumber(value, 1); }

// Opens a picture; the label is read out by screen readers.
std::string Begin(double height, std::string_view label) {
  return StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gl\" role=\"img\" aria-label=\"", XmlEscaped(label),
                "\" viewBox=\"0 0 ", At(kWidth), " ", At(height), "\" width=\"", At(kWidth), "\" height=\"", At(height),
                "\">\n", kStyle, "<rect width=\"100%\" height=\"100%\" fill=\"var(--back)\"/>\n");
}

std::string Text(std::string_view kind, std::string_view anchor, double x, double y, std::string_view text) {
  return StrCat("<text class=\"", kind, "\" text-anchor=\"", anchor, "\" x=\"", At(x), "\" y=\"", At(y), "\">",
                XmlEscaped(text), "</text>\n");
}

std::string Line(std::string_view kind, double x1, double y1, double x2, double y2) {
  return StrCat("<line class=\"", kind, "\" x1=\"", At(x1), "\" y1=\"", At(y1), "\" x2=\"", At(x2), "\" y2=\"", At(y2),
                "\"/>\n");
}

// The scale of a chart: values in [low, high] over [first, last] steps. A single step is drawn in the middle.
struct Axes {
  double low = 0, high = 1, first = 0, last = 1;
  double X(double at) const {
    return kLeft + (kWidth - kLeft - kRight) * (last > first ? (at - first) / (last - first) : 0.5);
  }
  double Y(double value) const { return kTop + (kHeight - kTop - kBottom) * (1 - (value - low) / (high - low)); }
};

// Draws five horizontal lines with their values; `below` names the other axis.
std::string Grid(const Axes& axes, std::string_view below) {
  constexpr int kLines = 4;
  std::string out;
  for (int i = 0; i <= kLines; ++i) {
    const double value = axes.low + (axes.high - axes.low) * i / kLines;
    out += Line("g", kLeft, axes.Y(value), kWidth - kRight, axes.Y(value));
    out += Text("s", "end", kLeft - 8, axes.Y(value) + 4, FormatDigits(value, 3));
  }
  return out + Text("s", "end", kWidth - kRight, kHeight - 8, below);
}

// Returns the class of a curve: its colour, and dashes where all colours are taken.
std::string CurveClass(size_t curve) { return StrCat("c", curve % kColours, curve / kColours % 2 == 1 ? " d" : ""); }

// The names of curves in as many rows as they need.
struct Legend {
  std::string svg{};
  double more = 0;  // height of the rows below the first, by which the chart moves down
};

// Breaks rows by an estimate of the width of a text: an SVG cannot be measured before it is shown.
Legend LegendOf(const std::vector<std::string>& names) {
  constexpr double kRow = 20, kMark = 28, kApart = 24, kCharacter = 7.2;
  Legend legend;
  double x = kLeft;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = Ellipsize(Printable(names[i]), 28);
    const double width = kMark + kCharacter * static_cast<double>(DisplayWidth(name));
    if (x > kLeft && x + width > kWidth) x = kLeft, legend.more += kRow;
    const double y = 20 + legend.more;
    legend.svg += Line(CurveClass(i), x, y, x + 22, y) + Text("s", "start", x + kMark, y + 4, name);
    x += width + kApart;
  }
  return legend;
}

// Puts the content below its legend, which makes the picture as much higher as it needs.
std::string Chart(const Legend& legend, std::string_view label, std::string_view content) {
  return StrCat(Begin(kHeight + legend.more, label), legend.svg, "<g transform=\"translate(0 ", At(legend.more),
                ")\">\n", content, "</g>\n</svg>\n");
}

std::string Polyline(size_t curve, const std::string& points) {
  return points.empty() ? "" : StrCat("<polyline class=\"", CurveClass(curve), "\" points=\"", points, "\"/>\n");
}

// A series as lines that break off where a value is missing.
std::string Curve(const Axes& axes, size_t colour, const std::vector<double>& values) {
  std::string out, points;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      points += StrCat(points.empty() ? "" : " ", At(axes.X(static_cast<double>(i))), ",", At(axes.Y(values[i])));
      continue;
    }
    out += Polyline(colour, points);
    points.clear();
  }
  return out + Polyline(colour, points);
}

// Heights of a lane, of the gap below it and of the title; then the place where lanes begin.
constexpr double kLane = 22, kGap = 4, kHead = 26, kLaneLeft = 150;

// Draws one step. A span is at least 0.4 units wide, so that a short kernel does not vanish.
std::string Lanes(const NamedStep& step, double scale_ns, double top) {
  std::string out =
      Text("h", "start", 8, top + 14, StrCat(Printable(step.name), ": ", FormatDuration(step.picture->dur_ns)));
  double y = top + kHead;
  const double width = kWidth - kLaneLeft - kRight;
  for (const PictureLane& lane : step.picture->lanes) {
    out += Text("s", "end", kLaneLeft - 8, y + kLane - 7, Ellipsize(Printable(lane.name), 20));
    out += Line("g", kLaneLeft, y + kLane, kWidth - kRight, y + kLane);
    for (const PictureSpan& span : lane.spans)
      out += StrCat("<rect class=\"b", static_cast<int>(span.bound), "\" x=\"",
                    At(kLaneLeft + width * static_cast<double>(span.start_ns) / scale_ns), "\" y=\"", At(y + 2),
                    "\" width=\"", At(std::max(0.4, width * static_cast<double>(span.dur_ns) / scale_ns)),
                    "\" height=\"", At(kLane - 4), "\"/>\n");
    y += kLane + kGap;
  }
  return out;
}

double HeightOf(const NamedStep& step) {
  return kHead + static_cast<double>(step.picture->lanes.size()) * (kLane + kGap) + 10;
}

// The colours that the lanes use, with their names.
std::string BoundLegend(const std::vector<NamedStep>& steps, double y) {
  std::vector<bool> used(kBounds, false);
  for (const NamedStep& step : steps)
    for (const PictureLane& lane : step.picture->lanes)
      for (const PictureSpan& span : lane.spans) used[static_cast<size_t>(span.bound)] = true;
  std::string out;
  double x = 8;
  for (size_t bound = 0; bound < kBounds; ++bound) {
    if (!used[bound]) continue;
    const std::string_view name = NameOf(static_cast<Bound>(bound));
    out += StrCat("<rect class=\"b", bound, "\" x=\"", At(x), "\" y=\"", At(y - 10),
                  "\" width=\"12\" height=\"12\"/>\n", Text("s", "start", x + 17, y, name));
    x += 17 + 7.2 * static_cast<double>(name.size()) + 20;
  }
  return out;
}

}  // namespace

// All series share one scale, as long as the longest and as high as the largest finite loss.
std::string LossSvg(const std::vector<NamedSeries>& series) {
  Axes axes{.low = 1e300, .high = -1e300, .first = 0, .last = 1};
  std::vector<std::string> names;
  for (const NamedSeries& shown : series) {
    size_t seen = 0;
    for (const double value : shown.values) {
      if (!std::isfinite(value)) continue;
      ++seen;
      axes.low = std::min(axes.low, value), axes.high = std::max(axes.high, value);
    }
    if (seen > 1) axes.last = std::max(axes.last, static_cast<double>(shown.values.size() - 1));
    names.push_back(shown.name);
  }
  // No series has two finite values.
  if (!(axes.high >= axes.low) || axes.last < 1) return "";
  // A constant loss needs a range, too.
  if (axes.high <= axes.low) axes.high = axes.low + 1;
  std::string content = Grid(axes, StrCat("step 0 to ", FormatNumber(axes.last, 0)));
  for (size_t i = 0; i < series.size(); ++i) content += Curve(axes, i, series[i].values);
  return Chart(LegendOf(names), "loss of each step", content);
}

// The longest step fills the width, so that a shorter step is seen to be shorter.
std::string StepsSvg(const std::vector<NamedStep>& steps) {
  double scale_ns = 0, height = 26;
  for (const NamedStep& step : steps) {
    scale_ns = std::max(scale_ns, static_cast<double>(step.picture->dur_ns));
    height += HeightOf(step);
  }
  if (scale_ns <= 0) return "";
  std::string out = Begin(height, "a step of each recording on one time axis");
  double top = 6;
  for (const NamedStep& step : steps) {
    out += Lanes(step, scale_ns, top);
    top += HeightOf(step);
  }
  return out + BoundLegend(steps, height - 8) + "</svg>\n";
}

// The dashed line is ideal scaling: k times the ranks, k times the throughput.
std::string ScalingSvg(const LabScaling& scaling) {
  if (scaling.points.size() < 2) return "";
  const double first = static_cast<double>(scaling.points.front().ranks);
  const double last = static_cast<double>(scaling.points.back().ranks);
  Axes axes{.low = 0, .high = last / first, .first = first, .last = last};
  for (const LabScalingPoint& point : scaling.points) axes.high = std::max(axes.high, point.speedup);
  std::string points;
  for (const LabScalingPoint& point : scaling.points)
    points +=
        StrCat(points.empty() ? "" : " ", At(axes.X(static_cast<double>(point.ranks))), ",", At(axes.Y(point.speedup)));
  std::string content =
      Grid(axes, StrCat(scaling.points.front().ranks, " to ", scaling.points.back().ranks, " ranks")) +
      Polyline(0, points) + Line("c1 d", axes.X(first), axes.Y(1), axes.X(last), axes.Y(last / first));
  return Chart(LegendOf({"measured", "ideal"}), "speedup by number of ranks", content);
}

}  // namespace gapless::internal::lab
