// SPDX-License-Identifier: Apache-2.0
// Trends of a history: which series it holds, and the report of one. `gapless trend` and `gapless serve` both ask here,
// so that they give the same numbers.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "report/trend/report.h"
#include "store/history.h"

namespace gapless::internal {

// The runs and metrics that a trend is of.
struct TrendQuery {
  std::string db{};        // URL of the history; empty: the user's own
  HistoryFilter filter{};  // its limit counts runs of the series
  std::optional<std::string> host{};
  std::vector<std::string> metrics{};         // empty: the usual ones
  const std::atomic<bool>* cancel = nullptr;  // ends the reading when it becomes true
};

// Runs that can be compared with the newest one of them, on one branch ("main" if none is named). What is left out is
// counted in notes. An error: the history cannot be read, or no run has a metric that was named.
Result<TrendReport> TrendOfHistory(const TrendQuery& query);

// A benchmark on a branch.
struct HistorySeries {
  std::string branch{}, benchmark{};  // empty: not recorded
  int64_t runs = 0;
  std::optional<int64_t> newest_unix_ns{};
  std::vector<std::string> metrics{};  // of any of the runs, sorted
};

// The series of a history, the one with the newest run first.
struct HistorySeriesList {
  std::string place{};  // of the history, without a password
  std::vector<HistorySeries> series{};
};
Result<HistorySeriesList> SeriesOfHistory(const std::string& db, const std::atomic<bool>* cancel = nullptr);

// True: there is a history at this file or URL, which may be empty.
bool IsHistory(const std::string& db);
// Its address without a password.
std::string PlaceOfHistory(const std::string& db);
// The user's own history; empty: there is none.
std::string OwnHistory();

// At most five names, with "…" behind them if there are more.
std::string SomeNames(const std::vector<std::string>& names);

}  // namespace gapless::internal
