// SPDX-License-Identifier: Apache-2.0
#include "serve/documents.h"

#include "lanes/search.h"
#include "lanes/timeline.h"
#include "report/trend/page_data.h"
#include "serve/report_document.h"

namespace gapless::internal {

constinit const TypeInfo TypeOf<FlameNode>::kInfo = describe::MakeType<FlameNode>();

std::span<const DescribedRoute> ServedRoutes() {
  static constexpr DescribedRoute kRoutes[] = {
      {"/api/site", &TypeOf<ServedSite>::kInfo},
      {"/api/runs", &TypeOf<ServedRuns>::kInfo},
      {"/api/runs/ID/report", &TypeOf<report_form::RunPage>::kInfo, "analyze"},
      {"/api/runs/ID/timeline", &TypeOf<TimelineOverview>::kInfo},
      {"/api/runs/ID/tile", &TypeOf<TimelineTile>::kInfo},
      {"/api/runs/ID/search", &TypeOf<SearchHits>::kInfo},
      {"/api/runs/ID/event", &TypeOf<ServedEvent>::kInfo},
      {"/api/runs/ID/selection", &TypeOf<ServedSelection>::kInfo},
      {"/api/runs/ID/compare", nullptr, "why"},
      {"/api/runs/ID/query", &TypeOf<QueryAnswer>::kInfo},
      {"/api/history/ID", &TypeOf<ServedSeriesList>::kInfo},
      {"/api/history/ID/trend", &TypeOf<BesideTrend>::kInfo, "trend"},
      {"/api/optimize/ID", &TypeOf<ServedSearch>::kInfo},
      {"/api/optimize/ID/result", nullptr, "optimize"},
      {"/api/monitor/ID", &TypeOf<ServedJob>::kInfo},
  };
  return kRoutes;
}

std::span<const TypeInfo* const> ServedTypes() {
  static const std::vector<const TypeInfo*> types = [] {
    std::vector<const TypeInfo*> all{&TypeOf<TimelineExcerpt>::kInfo};
    for (const DescribedRoute& route : ServedRoutes())
      if (route.type != nullptr) all.push_back(route.type);
    return all;
  }();
  return types;
}

}  // namespace gapless::internal
