// SPDX-License-Identifier: Apache-2.0
#include "serve/served_history.h"

#include <optional>

#include "flows/trends.h"
#include "serve/reply.h"

namespace gapless::internal {
namespace {

std::optional<std::string> Given(const HttpRequest& request, std::string_view name) {
  const auto found = request.parameters.find(name);
  return found == request.parameters.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

ServedThing ServedHistory::Info() const { return {.id = id_, .name = PlaceOfHistory(db_)}; }

Result<std::string> ServedHistory::SeriesJson() const {
  GAPLESS_ASSIGN(auto list, SeriesOfHistory(db_));
  ServedSeriesList document{.id = id_, .place = std::move(list.place)};
  for (HistorySeries& series : list.series) {
    ServedSeries one{.branch = std::move(series.branch),
                     .benchmark = std::move(series.benchmark),
                     .runs = series.runs,
                     .metrics = std::move(series.metrics)};
    if (series.newest_unix_ns) one.newest_unix_ms = *series.newest_unix_ns / 1'000'000;
    document.series.push_back(std::move(one));
  }
  return JsonOf(document);
}

Result<std::string> ServedHistory::TrendJson(const HttpRequest& request) const {
  TrendQuery query{.db = db_};
  query.filter.branch = Given(request, "branch");
  query.filter.benchmark = Given(request, "label");
  GAPLESS_ASSIGN(const auto report, TrendOfHistory(query));
  return TrendPageData(report);
}

}  // namespace gapless::internal
