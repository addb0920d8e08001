// SPDX-License-Identifier: Apache-2.0
#include "serve/served_run.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "report/about.h"
#include "report/page_data.h"

namespace gapless::internal {
namespace {

// Values over time of a GPU that the page draws (web/src/served/over_time.tsx).
constexpr std::string_view kGauges[] = {"gpu.utilization", "gpu.memory.used", "gpu.power"};

bool HasGauges(const Run& run) {
  return std::ranges::any_of(run.traces(), [](const RunTrace& of) {
    const CounterTable& counters = of.trace->counters;
    for (size_t row = 0; row < counters.size(); ++row)
      if (std::ranges::find(kGauges, of.trace->Text(counters.name[row])) != std::end(kGauges)) return true;
    return false;
  });
}

}  // namespace

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
    const RunReport report(*analysis_, options_);
    page_ = PageData(report.report(), [this](JsonWriter& json) {
      json.Key("served");
      json.BeginObject();
      json.Field("run", id_);
      json.Field("several", several_);
      if (HasGauges(analysis_->run())) json.Field("gauges", true);
      json.EndObject();
    });
  });
  return page_;
}

}  // namespace gapless::internal
