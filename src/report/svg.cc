// SPDX-License-Identifier: Apache-2.0
// Writes elements into one text, with the style sheet that all pictures share, and finds round values for axes.
#include "report/svg.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kSharedStyle =
    ".gl{--ink:#16202b;--soft:#566270;--grid:#dfe3e8;--back:#fff}"
    "@media(prefers-color-scheme:dark){.gl{--ink:#e7ecf2;--soft:#9eacba;--grid:#2a3441;--back:#161d26}}"
    ".gl{max-width:100%;height:auto}.gl text{font:12px Inter,system-ui,sans-serif;fill:var(--ink)}.gl "
    ".s{fill:var(--soft)}.gl .h{font-weight:600}"
    ".gl .g{stroke:var(--grid)}";

constexpr double kLetter = 6.9;  // mean width of a letter of the font
constexpr int kLeastSteps = 4, kMostTicks = 12;
constexpr double kLargestFixed = 1e15, kSmallestStep = 1e-9;  // beyond, ticks have four digits
constexpr double kSlack = 1e-9;                               // share of a step by which rounding may miss an end

}  // namespace

std::string SvgNumber(double value) {
  std::string text = FormatNumber(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

Svg::Svg(const SvgFrame& frame) {
  out_ = StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gl ", frame.kind, "\" role=\"img\" aria-label=\"",
                XmlEscaped(frame.label), "\" viewBox=\"0 0 ", SvgNumber(frame.width), " ", SvgNumber(frame.height),
                "\" width=\"", SvgNumber(frame.width), "\" height=\"", SvgNumber(frame.height), "\">\n");
  if (!frame.details.empty()) Element("desc", {}, frame.details);
  out_ += StrCat("<style>", kSharedStyle, frame.style, "</style>\n");
  Element("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "var(--back)"}});
}

void Svg::Element(std::string_view tag, std::initializer_list<SvgAttribute> attributes, std::string_view text,
                  std::string_view title) {
  out_ += StrCat("<", tag);
  for (const SvgAttribute& attribute : attributes)
    out_ += StrCat(" ", attribute.name, "=\"", XmlEscaped(attribute.value), "\"");
  if (text.empty() && title.empty()) {
    out_ += "/>\n";
    return;
  }
  out_ += ">";
  if (!title.empty()) out_ += StrCat("<title>", XmlEscaped(title), "</title>");
  out_ += StrCat(XmlEscaped(text), "</", tag, ">\n");
}

// The step is the largest of 1, 2 and 5 times a power of ten that gives at least four steps.
Ticks TicksWithin(double low, double high) {
  Ticks ticks;
  const double range = high - low;
  if (!(range > 0) || !std::isfinite(range)) return ticks;
  ticks.step = std::pow(10.0, std::floor(std::log10(range / kLeastSteps)));
  for (const double factor : {5.0, 2.0})
    if (range / (ticks.step * factor) >= kLeastSteps) {
      ticks.step *= factor;
      break;
    }
  const double first = std::ceil(low / ticks.step - kSlack);
  for (int i = 0; i < kMostTicks && (first + i) * ticks.step <= high + ticks.step * kSlack; ++i)
    ticks.at.push_back((first + i) * ticks.step);
  return ticks;
}

std::string TickText(double tick, double step) {
  if (std::abs(tick) >= kLargestFixed || step < kSmallestStep) return FormatDigits(tick, 4);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + kSlack)));
  return decimals == 0 ? FormatCount(std::llround(tick)) : FormatNumber(tick, decimals);
}

double SvgTextWidth(std::string_view text) { return kLetter * DisplayWidth(text); }

}  // namespace gapless::internal
