// SPDX-License-Identifier: Apache-2.0
// The routes of one run that only read its timeline: from the parameters of a request to a JSON document.
#pragma once

#include <string>

#include "base/result.h"
#include "collect/http_listener.h"
#include "serve/served_run.h"

namespace gapless::internal {

// Each gives the document, or an error that says which parameter is wrong.
Result<std::string> TimelineRoute(const HttpRequest& request, const ServedRun& run);
Result<std::string> TileRoute(const HttpRequest& request, const ServedRun& run);
Result<std::string> SearchRoute(const HttpRequest& request, const ServedRun& run);
Result<std::string> EventRoute(const HttpRequest& request, const ServedRun& run);
Result<std::string> SelectionRoute(const HttpRequest& request, const ServedRun& run);

}  // namespace gapless::internal
