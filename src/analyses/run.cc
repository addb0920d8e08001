// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <map>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/timeline.h"
#include "base/thread_pool.h"

namespace gapless {

struct Tables::Impl {
  struct Entry {
    std::optional<Table> table;  // empty while the analysis runs
    std::optional<Error> error;
  };
  std::map<std::string_view, Entry> entries;
  std::optional<std::vector<TraceTimeline>> timelines;
};

Tables::Tables(const Run& run) : run_(run), impl_(std::make_unique<Impl>()) {}
Tables::~Tables() = default;

const Table& Tables::Get(std::string_view name) {
  const Analysis* analysis = nullptr;
  for (const Analysis* one : AllAnalyses())
    if (one->name == name) analysis = one;
  assert(analysis != nullptr && "no analysis of that name");
  const auto [at, is_new] = impl_->entries.try_emplace(analysis->name);
  Impl::Entry& entry = at->second;
  assert((is_new || entry.table) && "an analysis asked for itself");
  if (!is_new) return *entry.table;
  Result<Table> result = analysis->run(run_, *this);
  if (result) {
    entry.table.emplace(std::move(*result));
  } else {
    entry.table.emplace(analysis->name, std::vector(analysis->columns.begin(), analysis->columns.end()));
    entry.error = result.error();
  }
  return *entry.table;
}

const Error* Tables::ErrorOf(std::string_view name) const {
  const auto at = impl_->entries.find(name);
  return at != impl_->entries.end() && at->second.error ? &*at->second.error : nullptr;
}

const std::vector<TraceTimeline>& Tables::Timelines() {
  if (impl_->timelines) return *impl_->timelines;
  const std::vector<const RunTrace*> primary = run_.primary();
  std::vector<TraceTimeline> timelines(primary.size());
  if (primary.size() == 1) {
    timelines[0] = MakeTimeline(*primary[0]);
  } else if (!primary.empty()) {
    ThreadPool pool;
    pool.ParallelFor(primary.size(), [&](size_t i) { timelines[i] = MakeTimeline(*primary[i]); });
  }
  return impl_->timelines.emplace(std::move(timelines));
}

}  // namespace gapless
