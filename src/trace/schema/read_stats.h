// SPDX-License-Identifier: Apache-2.0
// The findings of reading: one row per kind of thing that was odd, lost or wrong. Sorted by kind.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct ReadStatsColumns {
  Of<StringId> kind = kUnset;
  Of<Severity> severity = BeginsAs{Severity::kInfo};
  Of<int64_t> count = BeginsAs{0};
  Of<int64_t> first_offset = kUnset;
  Of<StringId> text = kUnset;

  static constexpr AboutTable kAbout{"read_stats", "What reading met that was odd, lost or wrong"};
  static constexpr ColumnList kColumns{
      TraceKey(),
      RankKey(),
      ShownColumn<&ReadStatsColumns::kind>("", "short name"),
      ShownColumn<&ReadStatsColumns::severity>("", "info, loss or error"),
      ShownColumn<&ReadStatsColumns::count>("", "how many"),
      ShownColumn<&ReadStatsColumns::first_offset>("bytes", "where the first one is in the (decompressed) input"),
      ShownColumn<&ReadStatsColumns::text>("", "one sentence"),
  };
};
using ReadStatsRow = ReadStatsColumns<InOwnText>;
using ReadStatsTable = TableFor<ReadStatsColumns>;

}  // namespace gapless::internal
