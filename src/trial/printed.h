// SPDX-License-Identifier: Apache-2.0
// Keeps the printed output of a program in bounded memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"

namespace gapless::internal {

inline constexpr size_t kLongestLine =
    size_t{16} << 10;  // maximum length of a line; of a longer line both ends are kept, half of it each

struct Printed {
  std::string text{};    // every line ends with \n, also where the program went back to the line's beginning
  std::string tail{};    // the last bytes as they were printed
  size_t cut_lines = 0;  // that were longer than kLongestLine
};

// Reads the output in a file. `most` is in bytes; of a larger file the end is read. Returns an empty result when
// there is no such file.
Printed ReadPrinted(const std::string& path, size_t most = size_t{1} << 28);
Printed PrintedFrom(std::string_view output);

// Returns the numbers that the pattern finds, in their order. Matches that are no finite number are left out.
std::vector<double> NumbersIn(const Printed& printed, const Pattern& pattern);

}  // namespace gapless::internal
