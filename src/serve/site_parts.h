// SPDX-License-Identifier: Apache-2.0
// All that a site serves.
#pragma once

#include <memory>
#include <vector>

#include "serve/served_history.h"
#include "serve/served_job.h"
#include "serve/served_optimize.h"
#include "serve/served_run.h"

namespace gapless::internal {

struct SiteParts {
  std::vector<std::unique_ptr<ServedRun>> runs{};
  std::vector<std::unique_ptr<ServedHistory>> history{};
  std::vector<std::unique_ptr<ServedOptimize>> optimize{};
  std::vector<std::unique_ptr<ServedMonitor>> monitor{};

  size_t size() const { return runs.size() + history.size() + optimize.size() + monitor.size(); }
  // Returns what each part is, as the route /api/site has it.
  ServedSite Site() const;
};

}  // namespace gapless::internal
