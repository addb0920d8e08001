// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "cli/commands/trend/report.h"
#include "store/timestamp.h"

namespace gapless::internal {
namespace {

constexpr double kWidth = 900, kHeight = 280, kLeft = 72, kRight = 16, kTop = 40, kBottom = 34;
constexpr double kHeadroom = 0.08;
constexpr int kTicks = 4;
constexpr size_t kDayOnly = 10, kShortSha = 10;

// Light unless the viewer prefers dark. Colours of levels are told apart without colour, too: by the dashes.
constexpr std::string_view kStyle =
    "<style>:root{--ink:#1b1f24;--soft:#6b7280;--grid:#e5e7eb;--run:#8aa4c8;--level:#1f5fa8;--worse:#b42318;--better:#"
    "18794e}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#9aa4b2;--grid:#2d333b;--run:#5d7ba6;--level:#8ab8f0;"
    "--worse:#f97066;--better:#4cc38a}}"
    "text{font:12px Inter,system-ui,sans-serif;fill:var(--ink)}.s{fill:var(--soft)}.g{stroke:var(--grid)}"
    ".r{fill:var(--run)}.l{stroke:var(--level);stroke-width:2}.w{stroke:var(--worse);stroke-dasharray:4 3}"
    ".b{stroke:var(--better);stroke-dasharray:1 3}.c{stroke:var(--soft);stroke-dasharray:2 2}</style>";

std::string Xml(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out.push_back(c);
  }
  return out;
}

// Where a run and a value stand in the picture.
struct Scale {
  double low = 0, high = 1;
  size_t count = 1;
  double X(double index) const {
    return kLeft + (kWidth - kLeft - kRight) * (count > 1 ? index / static_cast<double>(count - 1) : 0.5);
  }
  double Y(double value) const { return kTop + (kHeight - kTop - kBottom) * (high - value) / (high - low); }
};

Scale ScaleOf(const Trend& trend) {
  Scale scale{.count = trend.points.size()};
  const auto [low, high] =
      std::minmax_element(trend.points.begin(), trend.points.end(),
                          [](const TrendPoint& a, const TrendPoint& b) { return a.value < b.value; });
  const double range = high->value - low->value;
  const double room = range > 0 ? range * kHeadroom : std::max(std::abs(high->value), 1.0) * kHeadroom;
  scale.low = low->value - room, scale.high = high->value + room;
  return scale;
}

std::string At(double value) { return FormatNumber(value, 1); }

std::string Line(std::string_view kind, double x1, double y1, double x2, double y2) {
  return StrCat("<line class=\"", kind, "\" x1=\"", At(x1), "\" y1=\"", At(y1), "\" x2=\"", At(x2), "\" y2=\"", At(y2),
                "\"/>\n");
}

std::string Axis(const Trend& trend, const Scale& scale) {
  std::string out;
  const double step = (scale.high - scale.low) / kTicks;
  const int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(step))), 0, 9);
  for (int i = 0; i <= kTicks; ++i) {
    const double value = scale.low + i * step, y = scale.Y(value);
    out += Line("g", kLeft, y, kWidth - kRight, y);
    out += StrCat("<text class=\"s\" text-anchor=\"end\" x=\"", At(kLeft - 8), "\" y=\"", At(y + 4), "\">",
                  FormatNumber(value, decimals), "</text>\n");
  }
  const auto end = [&](const TrendPoint& point, double x, std::string_view anchor) {
    if (!point.unix_ns) return;
    out += StrCat("<text class=\"s\" text-anchor=\"", anchor, "\" x=\"", At(x), "\" y=\"", At(kHeight - 12), "\">",
                  FormatTimestamp(*point.unix_ns).substr(0, kDayOnly), "</text>\n");
  };
  end(trend.points.front(), kLeft, "start");
  end(trend.points.back(), kWidth - kRight, "end");
  return out;
}

std::string Levels(const Trend& trend, const Scale& scale) {
  std::string out;
  for (size_t i = 0; i < trend.changes.size(); ++i) {
    const ChangePoint& change = trend.changes[i];
    const TrendChange kind = KindOf(trend, change);
    const std::string_view line = kind == TrendChange::kRegression    ? "w"
                                  : kind == TrendChange::kImprovement ? "b"
                                                                      : "c";
    const double at = static_cast<double>(change.index) - 0.5,
                 begin = i == 0 ? 0 : static_cast<double>(trend.changes[i - 1].index) - 0.5;
    out += Line(line, scale.X(at), kTop, scale.X(at), kHeight - kBottom);
    out += Line("l", scale.X(begin), scale.Y(change.before), scale.X(at), scale.Y(change.before));
    if (i + 1 == trend.changes.size())
      out += Line("l", scale.X(at), scale.Y(change.after), scale.X(static_cast<double>(scale.count - 1)),
                  scale.Y(change.after));
    if (change.relative_change)
      out += StrCat("<text text-anchor=\"middle\" x=\"", At(std::clamp(scale.X(at), kLeft + 24, kWidth - kRight - 24)),
                    "\" y=\"", At(kTop - 6), "\">", *change.relative_change >= 0 ? "+" : "-",
                    FormatPercent(std::abs(*change.relative_change)), "</text>\n");
  }
  return out;
}

}  // namespace

std::string TrendSvg(const Trend& trend) {
  std::string out = StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", kWidth, " ", kHeight,
                           "\" role=\"img\" aria-label=\"", Xml(trend.metric), " over ", trend.points.size(), " runs, ",
                           trend.changes.size(), " changes of level\">\n", kStyle, "\n");
  out += StrCat("<text x=\"", At(kLeft), "\" y=\"16\" font-weight=\"600\">", Xml(trend.metric),
                trend.unit.empty() ? "" : StrCat(" (", Xml(trend.unit), ")"), "</text>\n");
  if (trend.points.empty()) return out + "</svg>\n";
  const Scale scale = ScaleOf(trend);
  out += Axis(trend, scale);
  for (size_t i = 0; i < trend.points.size(); ++i) {
    const TrendPoint& point = trend.points[i];
    out += StrCat("<circle class=\"r\" r=\"2.2\" cx=\"", At(scale.X(static_cast<double>(i))), "\" cy=\"",
                  At(scale.Y(point.value)), "\"><title>",
                  point.commit.empty() ? "" : StrCat(Xml(point.commit.substr(0, kShortSha)), " "), point.value,
                  "</title></circle>\n");
  }
  return StrCat(out, Levels(trend, scale), "</svg>\n");
}

}  // namespace gapless::internal
