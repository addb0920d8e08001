// SPDX-License-Identifier: Apache-2.0
// Computes analyses on demand and keeps each result for the run. Threads that ask for the same table compute it once.
#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/gather.h"
#include "analyses/timeline.h"
#include "base/once_flag.h"
#include "base/thread_pool.h"
#include "base/timings.h"
#include "trace/page_keeper.h"
#include "trace/summary.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kRarelyAsked = "operator_shapes";  // a row for each shape of each operator

// The place of an analysis in AllAnalyses(), which is sorted by name.
size_t IndexOf(std::string_view name) {
  const auto all = AllAnalyses();
  const auto at = std::ranges::lower_bound(all, name, {}, [](const Analysis* analysis) { return analysis->name; });
  assert(at != all.end() && (*at)->name == name && "no analysis of that name");
  return static_cast<size_t>(at - all.begin());
}

}  // namespace

struct Tables::Impl {
  explicit Impl(const Run& run) : pages(run) {}

  struct Entry {
    OnceFlag once;
    std::optional<Table> table;
    std::optional<Error> error;
  };
  struct Kept {
    OnceFlag once;
    std::shared_ptr<const void> value;
  };
  size_t threads = 0;
  std::vector<Entry> entries{AllAnalyses().size()};
  OnceFlag timelines_once, gathered_once, alone_once;
  std::vector<Table> gathered, gathered_alone;
  std::vector<TraceTimeline> timelines;
  std::mutex kept_mutex;
  std::map<std::pair<const Trace*, const void*>, Kept> kept;  // by trace (null: the run) and function
  PageKeeper pages;

  // Takes the rows of summaries for an analysis. All are gathered when the first is asked for, so that each summary is
  // unpacked once; but what few ask for and takes most memory comes alone.
  Table& Gathered(const Run& run, size_t index, size_t wanted_threads) {
    const TimedPart timed("shared", "rows of summaries");
    const auto all = AllAnalyses();
    if (all[index]->name == kRarelyAsked) {
      alone_once.Call([&] { gathered_alone = GatherTables(run, all.subspan(index, 1), wanted_threads); });
      return gathered_alone[0];
    }
    gathered_once.Call([&] {
      std::vector<const Analysis*> usual;
      for (const Analysis* analysis : all)
        if (analysis->name != kRarelyAsked) usual.push_back(analysis);
      gathered = GatherTables(run, usual, wanted_threads);
    });
    const auto rare = std::ranges::find(all.first(index), kRarelyAsked, &Analysis::name);
    return gathered[index - (rare != all.begin() + static_cast<std::ptrdiff_t>(index) ? 1 : 0)];
  }

  const void* Keep(const Trace* trace, const void* key, const std::function<std::shared_ptr<const void>()>& make);
};

Tables::Tables(const Run& run, size_t threads, Tables* job) : run_(run), job_(job), impl_(std::make_unique<Impl>(run)) {
  impl_->threads = threads;
}
Tables::~Tables() = default;

const Table& Tables::Get(std::string_view name) {
  const size_t index = IndexOf(name);
  Impl::Entry& entry = impl_->entries[index];
  const TimedPart waiting("", "");  // another thread may compute it already
  entry.once.Call([&] {
    const Analysis& analysis = *AllAnalyses()[index];
    const TimedPart timed("analysis", analysis.name);
    Result<Table> result = of_summaries() && !analysis.compares_ranks
                               ? Result<Table>(std::move(impl_->Gathered(run_, index, threads())))
                               : analysis.run(run_, *this);
    if (result) {
      entry.table.emplace(std::move(*result));
    } else {
      entry.error = result.error();
      entry.table.emplace(analysis.name, std::vector(analysis.columns.begin(), analysis.columns.end()));
    }
  });
  return *entry.table;
}

void Tables::Prepare(std::vector<std::string_view> names) {
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  if (names.empty()) return;
  std::ranges::stable_sort(names, std::greater(),
                           [](std::string_view name) { return AllAnalyses()[IndexOf(name)]->cost; });
  Timelines();  // most need them, and they have threads of their own
  ThreadPool pool(impl_->threads);
  pool.ParallelFor(names.size(), [&](size_t i) { Get(names[i]); });
}

const Error* Tables::ErrorOf(std::string_view name) const {
  const Impl::Entry& entry = impl_->entries[IndexOf(name)];
  return entry.error ? &*entry.error : nullptr;
}

const Table& Tables::OfSummaries(std::string_view name) { return impl_->Gathered(run_, IndexOf(name), threads()); }

bool Tables::of_summaries() const { return !run_.traces().empty() && run_.traces()[0].trace->summary != nullptr; }

size_t Tables::threads() const { return impl_->threads == 0 ? DefaultThreads() : impl_->threads; }

const void* Tables::Impl::Keep(const Trace* trace, const void* key,
                               const std::function<std::shared_ptr<const void>()>& make) {
  Kept* entry = nullptr;
  {
    const std::lock_guard lock(kept_mutex);
    entry = &kept[{trace, key}];
  }
  const TimedPart waiting("", "");
  entry->once.Call([&] {
    const TimedPart timed("shared", "columns derived once");
    entry->value = make();
  });
  return entry->value.get();
}

const void* Tables::Kept(const Trace& trace, const void* key,
                         const std::function<std::shared_ptr<const void>()>& make) {
  return impl_->Keep(&trace, key, make);
}

const void* Tables::KeptForRun(const void* key, const std::function<std::shared_ptr<const void>()>& make) {
  return impl_->Keep(nullptr, key, make);
}

const std::vector<TraceTimeline>& Tables::Timelines() {
  const TimedPart waiting("", "");
  impl_->timelines_once.Call([&] {
    const TimedPart timed("shared", "device timelines");
    const std::vector<const RunTrace*> primary = run_.primary();
    const auto make = [&](const RunTrace& of, bool beside) {
      if (of.trace->summary) return TimelineOf(of);
      return MakeTimeline(
          of, [&] { return Once(*of.trace, AnalysedWindow); }, beside);
    };
    impl_->timelines.resize(primary.size());
    if (primary.size() == 1) {
      impl_->timelines[0] = make(*primary[0], threads() > 1);
    } else if (!primary.empty()) {
      ThreadPool pool(impl_->threads);
      pool.ParallelFor(primary.size(), [&](size_t i) { impl_->timelines[i] = make(*primary[i], false); });
    }
  });
  return impl_->timelines;
}

}  // namespace gapless::internal
