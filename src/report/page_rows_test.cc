// SPDX-License-Identifier: Apache-2.0
#include "report/page_rows.h"

#include <gtest/gtest.h>

#include <set>

#include "analyses/columns.h"
#include "analyses/rows/kernels.h"
#include "analyses/rows/ledger.h"

namespace gapless::internal {
namespace {

Table Ranks(int64_t count, int64_t straggler) {
  TableOf<RanksRows> ranks;
  for (int64_t rank = 0; rank < count; ++rank)
    ranks.Row().Set("trace", rank).Set("own_per_step_ns", rank == straggler ? 1500 : 1000);
  return ranks;
}

std::vector<size_t> Shown(const Table& table, const Table& ranks) { return RowsToShow(table, RanksRows{ranks}); }

Table Ledger(int64_t ranks, int64_t steps) {
  TableOf<LedgerRows> ledger;
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (int64_t step = 0; step < steps; ++step) ledger.Row().Set("trace", rank).Set("step", step).Set("wall_ns", 1000);
  return ledger;
}

TEST(PageRows, HoldAllThatFits) { EXPECT_EQ(Shown(Ledger(8, 30), Ranks(8, 3)).size(), 240U); }

// 1,024 ranks of 31 rows do not fit: 258 of them do, and the one that differs is among them, though it comes last.
TEST(PageRows, OfPicturesAreThoseOfWholeRanksThatDifferMost) {
  const Table ledger = Ledger(512, 31);
  const std::vector<size_t> rows = Shown(ledger, Ranks(512, 511));
  std::multiset<int64_t> traces;
  for (const size_t row : rows) traces.insert(ledger.Int(row, 0));
  EXPECT_EQ(rows.size(), 258U * 31);
  EXPECT_EQ(traces.count(511), 31U);
  EXPECT_EQ(traces.count(traces.empty() ? 0 : *traces.begin()), 31U);
}

TEST(PageRows, OfManyRanksAreFewBecauseTheirMapHasAll) {
  EXPECT_EQ(Shown(Ledger(1024, 31), Ranks(1024, 1023)).size(), 25U * 31);
}

TEST(PageRows, OfOneRankWithTooManyStepsAreTheFirst) { EXPECT_EQ(Shown(Ledger(1, 20'000), Ranks(1, 0)).size(), 8000U); }

TEST(PageRows, OfListsAreThoseWithMost) {
  TableOf<KernelsRows> kernels;
  for (int64_t row = 0; row < 1000; ++row) kernels.Row().Set("trace", 0).Set("total_ns", row);
  const std::vector<size_t> rows = Shown(kernels, Ranks(0, 0));
  ASSERT_EQ(rows.size(), 250U);
  EXPECT_EQ(KernelsRows{kernels}.Int(rows.front(), "total_ns"), 750);
}

}  // namespace
}  // namespace gapless::internal
