// SPDX-License-Identifier: Apache-2.0
#include "serve/documents.h"

#include "lanes/search.h"
#include "lanes/timeline.h"

namespace gapless::internal {

std::span<const TypeInfo* const> ServedTypes() {
  static constexpr const TypeInfo* kTypes[] = {&TypeOf<ServedRuns>::kInfo, &TypeOf<TimelineExcerpt>::kInfo,
                                               &TypeOf<SearchHits>::kInfo, &TypeOf<ServedEvent>::kInfo,
                                               &TypeOf<QueryAnswer>::kInfo};
  return kTypes;
}

}  // namespace gapless::internal
