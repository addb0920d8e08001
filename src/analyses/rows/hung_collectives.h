// SPDX-License-Identifier: Apache-2.0
// Table hung_collectives, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct HungCollectivesRows : TypedRows<HungCollectivesRows> {
  static constexpr std::string_view kName = "hung_collectives";
  static constexpr std::string_view kHelp =
      "Collectives in dumps of flight recorders that ranks did not call alike, or that did not end";
  static constexpr ColumnSpec kColumns[] = {
      {"trace", kInt, "", "the recording of source_line: key of table trace"},
      {"rank", kInt, "", "its rank; NULL: none recorded"},
      {"group", kText, "", "process group; NULL: not recorded"},
      {"group_ranks", kText, "", "its ranks, as recorded"},
      {"seq", kInt, "", "number of the collective in its group; of messages between two ranks their number"},
      {"kind", kText, "", "all_reduce, all_gather, …"},
      {"name", kText, "", "as most ranks called it"},
      {"problem", kText, "",
       "missing (ranks did not call it), kind, shape or dtype (called differently), stuck (all called it)"},
      {"ranks_missing", kText, "", "ranks of the group whose dump ends before they called it"},
      {"ranks_differing", kText, "", "ranks that called it differently from most"},
      {"ranks_scheduled", kText, "", "ranks that called it, and whose GPU did not begin it"},
      {"ranks_started", kText, "", "ranks whose GPU began it and did not end it"},
      {"ranks_completed", kText, "", "ranks that were done with it"},
      {"ranks_unknown", kText, "", "ranks of the group without a dump, or whose dump begins later"},
      {"detail", kText, "", "how the calls differ"},
      {"source_line", kText, "", "where it was called: by a rank that differs, else by one that waits"},
      {"last_name", kText, "", "what the first missing rank called last in this group"},
      {"last_line", kText, "", "and where"},
      {"stack_id", kInt, "id:stack", "of source_line"},
      {"ts_ns", kInt, "ns", "when it was first called, in run time"},
  };
};

}  // namespace gapless::internal
