// SPDX-License-Identifier: Apache-2.0
// Table backward_exchange, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct BackwardExchangeRows : TypedRows<BackwardExchangeRows> {
  static constexpr std::string_view kName = "backward_exchange";
  static constexpr std::string_view kHelp = "How often gradients are exchanged between two updates";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"updates", kInt, "", "updates of the parameters that were looked at: those between two of the same optimiser"},
      {"passes", kInt, "", "forward passes of the wrapped model before them"},
      {"exchanging", kInt, "", "passes after which gradients were exchanged, before the next one"},
      {"exchanges", kInt, "", "collectives that these started"},
      {"slice_id", kInt, "id:slice", "the first of the passes"},
  };
};

}  // namespace gapless::internal
