// SPDX-License-Identifier: Apache-2.0
#include "serve/served_run.h"

#include <set>

#include "report/about.h"
#include "report/page_data.h"

namespace gapless::internal {

ServedRunInfo ServedRun::Info() const {
  const Run& run = analysis_->run();
  ServedRunInfo info{id_, SubjectOf(run), PathToType(run), {}, 0};
  std::set<int64_t> ranks;
  for (const RunTrace& of : run.traces()) {
    info.events += of.trace->info.event_count;
    if (of.rank() != kAbsent) ranks.insert(of.rank());
  }
  info.ranks.assign(ranks.begin(), ranks.end());
  return info;
}

const std::string& ServedRun::PageJson() const {
  made_.Call([this] {
    const RunReport report(*analysis_, {});
    page_ = PageData(report.report(), [this](JsonWriter& json) {
      json.Key("served");
      json.BeginObject();
      json.Field("run", id_);
      json.Field("several", several_);
      json.EndObject();
    });
  });
  return page_;
}

}  // namespace gapless::internal
