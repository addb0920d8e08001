// SPDX-License-Identifier: Apache-2.0
// Writes pictures as SVG: elements with attributes, escaped texts, and the scales and grid lines that charts share.
//
// A picture stands alone, in a file or in a page, and is light unless the viewer prefers dark. All of its styles are
// below .gl, so that those of several pictures in one page do not meet those of the page. Classes of every picture: s
// (soft text), h (bold text) and g (a line of the grid).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gapless::internal {

// Returns the number as it is written: "12", "12.5".
std::string SvgNumber(double value);

// An attribute of an element: a text, escaped when it is written, or a number with at most one decimal.
struct SvgAttribute {
  SvgAttribute(std::string_view attribute, double number) : name(attribute), value(SvgNumber(number)) {}
  SvgAttribute(std::string_view attribute, std::string_view text) : name(attribute), value(text) {}
  SvgAttribute(std::string_view attribute, const char* text) : name(attribute), value(text) {}
  std::string_view name;
  std::string value;
};

// An SvgFrame is what a picture is made of besides its content. `kind` is its class, `label` its name for screen
// readers, `details` what they read out after it, and `style` the rules that only this kind of picture has.
struct SvgFrame {
  double width = 0, height = 0;
  std::string_view kind{};
  std::string label{}, details{};
  std::string_view style{};
};

// A picture that grows element by element. `kind` is the class of an element; a title is shown by a viewer that points
// at the element, and empty titles are left out.
class Svg {
 public:
  explicit Svg(const SvgFrame& frame);

  void Element(std::string_view tag, std::initializer_list<SvgAttribute> attributes, std::string_view text = {},
               std::string_view title = {});
  // Elements up to CloseGroup() are moved down by `down`.
  void OpenGroup(double down) { out_ += "<g transform=\"translate(0 " + SvgNumber(down) + ")\">\n"; }
  void CloseGroup() { out_ += "</g>\n"; }

  void Line(std::string_view kind, double x1, double y1, double x2, double y2, std::string_view title = {}) {
    Element("line", {{"class", kind}, {"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}}, {}, title);
  }
  void Rect(std::string_view kind, double x, double y, double width, double height) {
    Element("rect", {{"class", kind}, {"x", x}, {"y", y}, {"width", width}, {"height", height}});
  }
  void Circle(std::string_view kind, double x, double y, double radius, std::string_view title) {
    Element("circle", {{"class", kind}, {"r", radius}, {"cx", x}, {"cy", y}}, {}, title);
  }
  // `anchor`: "start", "middle" or "end" is at x.
  void Text(std::string_view kind, std::string_view anchor, double x, double y, std::string_view text) {
    Element("text", {{"class", kind}, {"text-anchor", anchor}, {"x", x}, {"y", y}}, text);
  }
  // A line of the grid with the label of its value at the left.
  void GridLine(double left, double right, double y, std::string_view label) {
    Line("g", left, y, right, y);
    Text("s", "end", left - 8, y + 4, label);
  }
  // A line of a legend, and what it stands for.
  void Sample(std::string_view kind, double x, double y, std::string_view name) {
    Line(kind, x, y, x + 22, y);
    Text("s", "start", x + 28, y + 4, name);
  }

  // Returns the whole picture; nothing may be added after it.
  std::string Done() { return std::move(out_ += "</svg>\n"); }

 private:
  std::string out_;
};

// Values from `low` to `high` over coordinates from `from` to `to`.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  // Halves keep the difference finite. A scale of one value has it in the middle.
  double At(double value) const {
    return from + (to - from) * (high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5);
  }
};

// Round values within a range, ascending. `step` is between neighbours.
struct Ticks {
  double step = 1;
  std::vector<double> at{};
};
// Returns ticks that are 1, 2 or 5 times a power of ten apart, four to ten steps of them. None for a range that is
// empty or not finite.
Ticks TicksWithin(double low, double high);
// Returns the label of a tick, with as many decimals as the step between ticks needs.
std::string TickText(double tick, double step);
// Estimates the width of a text: an SVG cannot be measured before it is shown.
double SvgTextWidth(std::string_view text);

}  // namespace gapless::internal
