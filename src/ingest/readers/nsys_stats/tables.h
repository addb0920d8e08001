// SPDX-License-Identifier: Apache-2.0
// The tables in a text that nsys stats or nsys profile --stats=true wrote: as CSV, or printed in columns over lines of
// dashes, with anything else around them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::nsys_stats {

enum class Form : uint8_t {
  kNone,       // a report that is not known
  kKernels,    // sums by kernel
  kCopies,     // sums by kind of copy
  kDevice,     // both in one table
  kCalls,      // sums by call of CUDA
  kLeftOut,    // a report that is known and not read: calls of the system, NVTX ranges, sizes of copies
  kGpuTrace,   // each kernel and copy with its time
  kApiTrace,   // each call of CUDA with its time
  kExecTrace,  // each launch with its kernel
  kRangeTrace  // each NVTX range
};

struct Table {
  Form form = Form::kNone;
  std::vector<std::string> titles{};  // letters and digits, in lower case: "totaltime"
  std::vector<std::string> units{};   // what stands in brackets behind them: "ns"; empty: nothing
  std::vector<std::vector<std::string>> rows{};
  int64_t bad_rows = 0;
  bool cut = false;  // the text ended within a row

  int PlaceOf(std::initializer_list<std::string_view> titles_of_it) const;  // -1: there is none of these
  bool Has(std::initializer_list<std::string_view> titles_of_it) const { return PlaceOf(titles_of_it) >= 0; }
};

// Finds all tables of known reports, in the order of the text.
std::vector<Table> TablesIn(std::string_view text);

// Does the text hold a table of a known report?
bool HasReports(std::string_view text);

// The ns that the unit of a column is; 0: it is none of time. No unit is ns.
double NsIn(std::string_view unit);

// "1,234.5" → 1234.5; NaN: no number.
double NumberIn(std::string_view text);

}  // namespace gapless::internal::nsys_stats
