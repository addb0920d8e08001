// SPDX-License-Identifier: Apache-2.0
// Values and units as ncu prints them.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal::ncu {

// How numbers are written in one file.
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

}  // namespace gapless::internal::ncu
