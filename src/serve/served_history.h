// SPDX-License-Identifier: Apache-2.0
// A history of benchmarks that is served: its series, and the trend of one. It is read anew for each answer, so that
// runs that were recorded meanwhile are there.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "collect/http_listener.h"
#include "serve/documents.h"

namespace gapless::internal {

class ServedHistory {
 public:
  ServedHistory(std::string id, std::string db) : id_(std::move(id)), db_(std::move(db)) {}

  const std::string& id() const { return id_; }
  ServedThing Info() const;
  Result<std::string> SeriesJson() const;
  // Returns what `gapless trend --html` puts into its page. Parameters: branch, label; a missing label is that of the
  // newest run.
  Result<std::string> TrendJson(const HttpRequest& request) const;

 private:
  std::string id_, db_;
};

}  // namespace gapless::internal
