// SPDX-License-Identifier: Apache-2.0
// Gives each launch of a file an index, over several runs of ncu in one file.
//
// A smaller id, or a metric that a launch already has, begins another run. A launch of a later run is the earlier
// one if id and kernel match and the metric is new. Example: two runs with ids 0 and 1 that collect different
// metrics give two launches; with the same metrics they give four.
//
// The metrics that a launch has are kept as a set of 64-bit hashes. Two metrics of equal hash would split one launch
// into two; nothing else would be wrong.
#include "ingest/readers/ncu_csv/launches.h"

#include <algorithm>
#include <functional>

#include "base/strings.h"

namespace gapless::internal::ncu {

void Launches::BeginRun() {
  for (auto& [key, launch] : run_) before_.insert_or_assign(key, std::move(launch));
  run_.clear();
  last_id_ = -1;
}

size_t Launches::Mark(int64_t index, std::string_view metric) {
  return std::hash<std::string_view>()(metric) ^ (static_cast<size_t>(index) * 0x9E3779B97F4A7C15U);
}

// Returns ncu's own number where it is free, so that users find it again; else the next free one.
int64_t Launches::NewIndex(int64_t id) {
  const int64_t index = id >= 0 && !used_.contains(id) ? id : next_;
  used_.insert(index);
  next_ = std::max(next_, index + 1);
  return index;
}

int64_t Launches::IndexOf(int64_t id, const std::string& identity, std::string_view kernel, std::string_view metric) {
  if (id >= 0 && id < last_id_) BeginRun();
  last_id_ = std::max(last_id_, id);
  const std::string key = id >= 0 ? StrCat(id) : identity;
  const auto found = run_.find(key);
  if (found == run_.end()) {
    const auto earlier = before_.find(key);
    const bool same = earlier != before_.end() && earlier->second.kernel == kernel &&
                      !seen_.contains(Mark(earlier->second.index, metric));
    const int64_t index = same ? earlier->second.index : NewIndex(id);
    run_[key] = {.index = index, .kernel = std::string(kernel), .first_metric = std::string(metric)};
    seen_.insert(Mark(index, metric));
    return index;
  }
  Launch& launch = found->second;
  if (metric == launch.first_metric || launch.kernel != kernel) {  // the same launch begins again, in another run
    launch = {.index = NewIndex(id), .kernel = std::string(kernel), .first_metric = std::string(metric)};
  }
  seen_.insert(Mark(launch.index, metric));
  return launch.index;
}

}  // namespace gapless::internal::ncu
