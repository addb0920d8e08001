// SPDX-License-Identifier: Apache-2.0
#include "serve/documents.h"

#include "lanes/search.h"
#include "lanes/timeline.h"

namespace gapless::internal {

std::span<const DescribedRoute> ServedRoutes() {
  static constexpr DescribedRoute kRoutes[] = {
      {"/api/site", &TypeOf<ServedSite>::kInfo},
      {"/api/runs", &TypeOf<ServedRuns>::kInfo},
      {"/api/runs/ID/timeline", &TypeOf<TimelineOverview>::kInfo},
      {"/api/runs/ID/tile", &TypeOf<TimelineTile>::kInfo},
      {"/api/runs/ID/search", &TypeOf<SearchHits>::kInfo},
      {"/api/runs/ID/event", &TypeOf<ServedEvent>::kInfo},
      {"/api/runs/ID/query", &TypeOf<QueryAnswer>::kInfo},
      {"/api/history/ID", &TypeOf<ServedSeriesList>::kInfo},
      {"/api/optimize/ID", &TypeOf<ServedSearch>::kInfo},
      {"/api/monitor/ID", &TypeOf<ServedJob>::kInfo},
  };
  return kRoutes;
}

std::span<const TypeInfo* const> ServedTypes() {
  static const std::vector<const TypeInfo*> types = [] {
    std::vector<const TypeInfo*> all{&TypeOf<TimelineExcerpt>::kInfo};
    for (const DescribedRoute& route : ServedRoutes()) all.push_back(route.type);
    return all;
  }();
  return types;
}

}  // namespace gapless::internal
