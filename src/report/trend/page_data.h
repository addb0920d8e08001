// SPDX-License-Identifier: Apache-2.0
// Data that the page of trends shows beside the document of `trend --json`: words, and numbers in the unit that is
// shown. A run is meant by its place, from 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"

namespace gapless::internal {

struct TrendPageRuns {
  std::vector<double> times{};  // NaN: not known
  std::vector<std::string> commits{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendPageRuns::times>("times", "", "Unix time in ms; null: not known", kNullable),
      Field<&TrendPageRuns::commits>("commits", "", "shortened; empty: not known"),
  };
};

struct TrendPageChange {
  std::string when{}, size{}, levels{}, commits{}, within{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendPageChange::when>("when", "", "the first run at the new level"),
      Field<&TrendPageChange::size>("size", "", "the change in percent; empty: the level was 0"),
      Field<&TrendPageChange::levels>("levels", "", "the levels before and after"),
      Field<&TrendPageChange::commits>("commits", "", "commits that may have brought it"),
      Field<&TrendPageChange::within>("within", "", "where its place is uncertain, from when to when", kUnlessEmpty),
  };
};

struct TrendPageDrift {
  std::string text{};
  double from = 0, to = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&TrendPageDrift::text>("text", "", "the drift in words"),
      Field<&TrendPageDrift::from>("from", "", "at the first run of the last level"),
      Field<&TrendPageDrift::to>("to", "", "at the last run"),
  };
};

struct TrendPageMetric {
  std::string unit{};
  double unit_size = 1;
  std::string last{};
  double low = 0, high = 0;
  int64_t runs = 0;
  std::vector<double> values{};
  std::vector<TrendPageChange> changes{};
  std::optional<TrendPageDrift> drift{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendPageMetric::unit>("unit", "", "the one that is shown"),
      Field<&TrendPageMetric::unit_size>("unit_size", "", "its size in the metric's own"),
      Field<&TrendPageMetric::last>("last", "", "the last value, with its unit"),
      Field<&TrendPageMetric::low>("low", "", "what the chart spans; values beyond are drawn at its edge"),
      Field<&TrendPageMetric::high>("high", "", "the same, above"),
      Field<&TrendPageMetric::runs>("runs", "", "place in `runs` of the page"),
      Field<&TrendPageMetric::values>("values", "", "in the unit that is shown, as low, high and the drift"),
      Field<&TrendPageMetric::changes>("changes", "", "those of the document, in its order"),
      Field<&TrendPageMetric::drift>("drift", "", "at the last level; missing: none that is worth telling"),
  };
};

struct TrendPage {
  std::string subject{}, what{};
  std::vector<TrendPageRuns> runs{};
  std::vector<TrendPageMetric> metrics{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrendPage::subject>("subject", "", "what the trends are of"),
      Field<&TrendPage::what>("what", "", "what a point is: run or value"),
      Field<&TrendPage::runs>("runs", "", "lists of runs, which metrics share"),
      Field<&TrendPage::metrics>("metrics", "", "those of the document, in its order"),
  };
};

// BesideTrend is what stands beside the document.
struct BesideTrend {
  TrendPage page{};
  static constexpr FieldInfo kFields[] = {Field<&BesideTrend::page>("page", "", "words and numbers that are shown")};
};

}  // namespace gapless::internal
