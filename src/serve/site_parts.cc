// SPDX-License-Identifier: Apache-2.0
#include "serve/site_parts.h"

namespace gapless::internal {

ServedSite SiteParts::Site() const {
  ServedSite site;
  for (const auto& run : runs) site.runs.push_back(run->Info());
  for (const auto& job : monitor)
    for (const ServedRun* run : job->runs()) site.runs.push_back(run->Info());
  for (const auto& one : history) site.history.push_back(one->Info());
  for (const auto& one : optimize) site.optimize.push_back(one->Info());
  for (const auto& one : monitor) site.monitor.push_back(one->Info());
  return site;
}

}  // namespace gapless::internal
