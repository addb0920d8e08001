// SPDX-License-Identifier: Apache-2.0
// Table batch_size, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct BatchSizeRows : TypedRows<BatchSizeRows> {
  static constexpr std::string_view kName = "batch_size";
  static constexpr std::string_view kHelp = "Samples per step, and how they are known";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"samples", kInt, "", "samples per step; NULL: not found in the recording"},
      {"source", kText, "",
       "recorder (reported by the program), images, partial_batch, attention, features, products, equal; NULL: not "
       "known"},
      {"operator", kText, "", "first layer; NULL: the program reported the size, or not known"},
      {"shapes", kText, "", "shapes of its inputs"},
      {"slice_id", kInt, "id:slice", "its first call"},
  };
};

}  // namespace gapless::internal
