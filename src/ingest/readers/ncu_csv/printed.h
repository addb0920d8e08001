// SPDX-License-Identifier: Apache-2.0
// Values, units, and the names of columns and metrics, as the pages and the versions of ncu print them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gapless::internal::ncu {

// A NumberStyle is how numbers are written in one file.
struct NumberStyle {
  bool decimal_comma = false;  // "9,00" is nine; otherwise commas separate thousands
};
// Learns the style: a text that can be read one way only decides.
class StyleFinder {
 public:
  void See(std::string_view text);
  NumberStyle style() const { return {.decimal_comma = commas_ && (!points_ || points_between_)}; }

 private:
  bool commas_ = false, points_ = false, points_between_ = false;
};

// Returns true if the text stands for a value that was not collected: "n/a", "(!) n/a", "nan", "inf" or nothing.
bool IsAbsentValue(std::string_view text);

// NaN when the text is no number (or is "nan").
double ParseValue(std::string_view text, NumberStyle style);

// A unit as printed, taken apart: "Gbyte/second" is 1e9 of "byte/second", "usecond" 1e3 of "ns", "cycle/nsecond" 1e9 of
// "cycle/second". What is not known stays as it is.
struct BaseUnit {
  double factor = 1;
  std::string unit;
};
BaseUnit ToBaseUnit(std::string_view unit);

// A column about the launch that a row belongs to, and what the metric of it is called here.
struct AboutColumn {
  std::string_view printed, metric;
};
std::span<const AboutColumn> AboutColumns();
// Returns true if the column holds no metric.
bool IsAbout(std::string_view column);

// Returns the metric's own name for a name of the details page; others are called "section: name". Names that are a
// metric's own already, as --metrics prints them, stay.
std::string MetricOf(std::string_view section, std::string_view printed);

}  // namespace gapless::internal::ncu
