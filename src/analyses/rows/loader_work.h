// SPDX-License-Identifier: Apache-2.0
// Table loader_work, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct LoaderWorkRows : TypedRows<LoaderWorkRows> {
  static constexpr std::string_view kName = "loader_work";
  static constexpr std::string_view kHelp =
      "Time inside a loader without workers, by kind of work: reading, decoding, transforming";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "read, decode, transform, tokenize, collate or other"},
      {"self_ns", kInt, "ns", "time inside the loader spent on it, without what it calls of other kinds"},
      {"share", kReal, "share", "of the time inside the loader"},
      {"library", kText, "", "the library with most of that time; NULL: the functions name none"},
      {"function", kText, "", "the function with most of that time, as recorded"},
  };
};

}  // namespace gapless::internal
