// SPDX-License-Identifier: Apache-2.0
// The site: the page, and the routes that it asks. Only these paths are answered, and nothing of the file system.
//
//   /                        the page with the first run, or that of run=ID, history=ID, optimize=ID or monitor=ID
//   /api/site                all that is served
//   /api/runs                the runs
//   /api/runs/ID/report      the data of the page of a run
//   /api/runs/ID/timeline    its lanes
//   /api/runs/ID/tile        a part of them: rank or trace, level, at
//   /api/runs/ID/search      events by name: q, most
//   /api/runs/ID/event       one event: kind, id
//   /api/runs/ID/selection   sums of a stretch: trace, from, to, lanes
//   /api/runs/ID/compare     what makes its steps longer or shorter than those of another run: with
//   /api/runs/ID/query       SQL, by POST {"sql": …}
//   /api/history/ID          the series of a history
//   /api/history/ID/trend    the data of the page of trends: branch, label
//   /api/optimize/ID         how far a search of `gapless optimize` is
//   /api/optimize/ID/result  its document, once there is one
//   /api/monitor/ID          a job: steps, gauges, slow steps, recordings
#pragma once

#include <atomic>
#include <memory>
#include <semaphore>
#include <span>
#include <string>
#include <string_view>

#include "collect/http_listener.h"
#include "serve/gatekeeper.h"
#include "serve/run_query.h"
#include "serve/site_parts.h"

namespace gapless::internal {

class Site {
 public:
  // One part at least is served.
  Site(SiteParts parts, Gatekeeper gatekeeper, QueryLimits limits = {});

  // Safe from several threads.
  HttpAnswer Answer(const HttpRequest& request);
  // Ends queries that run.
  void Stop() { stop_ = true; }
  // Makes what the first visitor would wait for.
  void Prepare();
  const Gatekeeper& gatekeeper() const { return gatekeeper_; }

 private:
  HttpAnswer Page(const HttpRequest& request);
  HttpAnswer PageOfRun(const HttpRequest& request, const ServedRun& run);
  HttpAnswer Api(const HttpRequest& request);
  HttpAnswer OfRuns(const HttpRequest& request, std::span<const std::string_view> parts);
  Result<std::string> Compare(const HttpRequest& request, const ServedRun& run) const;
  Result<const ServedRun*> Find(std::string_view id) const;  // nullptr: no run has this id
  HttpAnswer OfRun(const HttpRequest& request, const ServedRun& run, std::string_view route);
  HttpAnswer Query(const HttpRequest& request, const ServedRun& run);

  SiteParts parts_;
  Gatekeeper gatekeeper_;
  QueryLimits limits_;
  std::atomic<bool> stop_ = false;
  static constexpr int kQueriesAtOnce = 2, kWalksAtOnce = 4;
  std::counting_semaphore<kQueriesAtOnce> query_{kQueriesAtOnce};
  std::counting_semaphore<kWalksAtOnce> walk_{kWalksAtOnce};  // a walk over whole recordings takes memory
};

}  // namespace gapless::internal
