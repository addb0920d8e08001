// SPDX-License-Identifier: Apache-2.0
// Pairs the series of two files of results, or of one, that are compared with each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/result_reader.h"

namespace gapless::internal {

// Pointers into the files.
struct SeriesPair {
  const ResultSeries *a = nullptr, *b = nullptr;
};

// Pairs series by name; a shortened name is enough if it is unique. Without names the only series of each file are
// paired, whatever they are called, else all series that both have. Only times of steps are paired of gapless bench.
// Series with several values on both sides are preferred to single values. An error: nothing is in both; it names what
// is in each.
Result<std::vector<SeriesPair>> PairsOf(const ResultFile& a, const ResultFile& b, const std::string& name);

// Names of the series that only one of two files has. Empty if both have one series: these are compared, whatever they
// are called.
struct Unpaired {
  std::vector<std::string> only_in_a, only_in_b;
};
Unpaired UnpairedOf(const ResultFile& a, const ResultFile& b);

// "only in A: x, y and 3 more"; "" if there are none.
std::string OnlyInText(std::string_view side, const std::vector<std::string>& names);

// Within one file: its first series as A, with each other one that measures the same as B, or with that of the name. An
// error: there is none, or the file is of one run.
Result<std::vector<SeriesPair>> PairsWithin(const ResultFile& file, const std::string& name);

}  // namespace gapless::internal
