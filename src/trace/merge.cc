// SPDX-License-Identifier: Apache-2.0
// Merges the shards of several threads into one sorted trace:
//
//   1. Texts of all shards become one pool, in alphabetical order, so that ids do not depend on who read what.
//   2. A row is named by (segment, place in segment), with the segments of all shards numbered through. The
//      rows in file order are ordered by time. Meanwhile other threads do the same for the smaller tables.
//   3. Each column is gathered in that order into its final place and its segments are freed at once. So the
//      peak is the columns plus the order plus one column per thread, never two copies of the table. A column that has
//      one value in all rows of all shards is not gathered at all.
//   4. What follows from the rows is derived (derive.h).
#include "trace/merge.h"

#include "base/order_statistics.h"
#include "base/thread_pool.h"

namespace gapless::internal::merging {

std::vector<Piece> PiecesInFileOrder(const Shards& shards, ListIndex list) {
  struct Ordered {
    uint64_t order;
    Piece piece;
  };
  std::vector<Ordered> found;
  for (uint32_t s = 0; s < shards.size(); ++s) {
    const auto& chunks = shards[s]->impl->chunks;
    for (size_t c = 0; c + 1 < chunks.size(); ++c) {
      const uint32_t begin = chunks[c].rows[list], end = chunks[c + 1].rows[list];
      if (begin < end) found.push_back({chunks[c].order, {s, begin, end}});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Ordered& a, const Ordered& b) { return a.order < b.order; });
  std::vector<Piece> pieces;
  for (const Ordered& o : found) pieces.push_back(o.piece);
  return pieces;
}

void Merger::InParallel(const Tasks& tasks) {
  if (pool_ == nullptr) {
    for (const auto& task : tasks) task();
    return;
  }
  pool_->ParallelFor(tasks.size(), [&](size_t i) { tasks[i](); });
}

// O(n log n) in the distinct texts of all shards. The texts are not copied: the pool keeps the shards' memory
// alive.
void Merger::MergeTexts() {
  struct Entry {
    std::string_view text;
    uint32_t shard, id;
  };
  auto pools = std::make_shared<std::vector<StringPool>>();
  std::vector<Entry> entries;
  text_ids_.resize(shards_.size());
  for (uint32_t s = 0; s < shards_.size(); ++s) {
    const StringPool& pool = shards_[s]->strings;
    text_ids_[s].resize(pool.size());
    for (uint32_t id = 1; id < pool.size(); ++id) entries.push_back({pool[StringId{id}], s, id});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
  std::vector<std::string_view> views(1);
  for (const Entry& entry : entries) {
    if (entry.text != views.back()) views.push_back(entry.text);
    text_ids_[entry.shard][entry.id] = StringId{static_cast<uint32_t>(views.size() - 1)};
  }
  for (auto& shard : shards_) pools->push_back(std::move(shard->strings));
  trace_.strings = StringPool::FromViews(std::move(views), std::move(pools));
}

// Threads are ordered by pid and tid, each once.
void Merger::MergeThreads(const TraceBuilder::Impl& impl) {
  std::vector<ThreadKey> keys;
  for (const auto& shard : shards_) keys.insert(keys.end(), shard->impl->threads.begin(), shard->impl->threads.end());
  const auto less = [](const ThreadKey& a, const ThreadKey& b) {
    return a.pid != b.pid ? a.pid < b.pid : a.tid < b.tid;
  };
  std::sort(keys.begin(), keys.end(), less);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const auto& shard : shards_) {
    auto& ids = thread_ids_.emplace_back();
    for (const ThreadKey& key : shard->impl->threads)
      ids.emplace_back(static_cast<uint64_t>(std::lower_bound(keys.begin(), keys.end(), key, less) - keys.begin()));
  }
  const auto name_of = [](const auto& names, const auto& key) -> std::string_view {
    const auto it = names.find(key);
    return it == names.end() ? std::string_view() : it->second;
  };
  std::vector<ThreadRow> rows;
  for (const auto& [pid, tid] : keys)
    rows.push_back({.pid = pid,
                    .tid = tid,
                    .name = name_of(impl.thread_names, std::pair(pid, tid)),
                    .process_name = name_of(impl.process_names, pid)});
  FillFrom(rows, trace_.threads, [this](std::string_view text) { return trace_.strings.Intern(text); });
}

// The median time of up to 64 k slices and GPU operations spread over the input (of the other rows, when there are
// neither).
int64_t Merger::TypicalTime() const {
  constexpr size_t kSamples = size_t{1} << 16;
  std::vector<int64_t> times;
  size_t rows = 0;
  for (const auto& shard : shards_) rows += shard->impl->slices.rows + shard->impl->gpu_ops.rows;
  const size_t stride = rows / kSamples + 1;
  for (const auto& shard : shards_) {
    const Shard::Impl& of = *shard->impl;
    for (size_t i = 0; i < of.slices.rows; i += stride) times.push_back(of.slices.ts_ns[i]);
    for (size_t i = 0; i < of.gpu_ops.rows; i += stride) times.push_back(of.gpu_ops.ts_ns[i]);
    if (rows > 0) continue;
    for (size_t i = 0; i < of.counters.size(); ++i) times.push_back(of.counters[i].ts_ns);
    for (size_t i = 0; i < of.memory_events.rows; ++i) times.push_back(of.memory_events.ts_ns[i]);
    for (size_t i = 0; i < of.samples.size(); ++i) times.push_back(of.samples[i].ts_ns);
    for (size_t i = 0; i < of.os_calls.size(); ++i) times.push_back(of.os_calls[i].ts_ns);
    for (size_t i = 0; i < of.thread_runs.size(); ++i) times.push_back(of.thread_runs[i].ts_ns);
    for (size_t i = 0; i < of.page_faults.size(); ++i) times.push_back(of.page_faults[i].ts_ns);
    for (size_t i = 0; i < of.collectives.size(); ++i) times.push_back(of.collectives[i].ts_ns);
  }
  if (times.empty()) return 0;
  return UpperMedian(times);
}

// The zero is the first slice or GPU operation; only a trace without either counts from its other rows. A time that is
// a month away from the typical one is a recorder's slip (an uninitialised clock, a marker at the end of all days):
// such rows would stretch the trace over years, so they are left out and counted.
void Merger::FindOrigin() {
  constexpr int64_t kMonthNs = int64_t{30} * 86'400 * 1'000'000'000;
  const int64_t typical = TypicalTime();
  nearest_ = typical - kMonthNs, furthest_ = typical + kMonthNs;
  int64_t first = INT64_MAX, last = INT64_MIN, other = typical, other_last = typical;
  const auto take = [&](int64_t start, int64_t length) {
    if (!IsNear(start)) return;
    first = std::min(first, start);
    last = std::max(last, start + length);
  };
  for (const auto& shard : shards_) {
    const Shard::Impl& rows = *shard->impl;
    for (size_t i = 0; i < rows.slices.rows; ++i) take(rows.slices.ts_ns[i], rows.slices.dur_ns[i]);
    for (size_t i = 0; i < rows.gpu_ops.rows; ++i) {
      const int64_t ts_ns = rows.gpu_ops.ts_ns[i], dur_ns = rows.gpu_ops.dur_ns[i];
      if (!HasNoTime(ts_ns, dur_ns))
        take(ts_ns, dur_ns);
      else
        ++ops_without_time_, distant_rows_ -= IsNear(ts_ns) ? 0 : 1;  // which ordering counts
    }
    const auto take_other = [&](int64_t ts_ns) {
      if (IsNear(ts_ns)) other = std::min(other, ts_ns), other_last = std::max(other_last, ts_ns);
    };
    for (size_t i = 0; i < rows.counters.size(); ++i) take_other(rows.counters[i].ts_ns);
    for (size_t i = 0; i < rows.memory_events.rows; ++i) take_other(rows.memory_events.ts_ns[i]);
    for (size_t i = 0; i < rows.samples.size(); ++i) take_other(rows.samples[i].ts_ns);
    for (size_t i = 0; i < rows.page_faults.size(); ++i) take_other(rows.page_faults[i].ts_ns);
    const auto take_others = [&](const auto& spans) {
      for (size_t i = 0; i < spans.size(); ++i)
        take_other(spans[i].ts_ns), take_other(spans[i].ts_ns + spans[i].dur_ns);
    };
    take_others(rows.os_calls), take_others(rows.thread_runs);
    for (size_t i = 0; i < rows.collectives.size(); ++i) {
      take_other(rows.collectives[i].ts_ns);
      if (const int64_t length = rows.collectives[i].dur_ns; length != kAbsent)
        take_other(rows.collectives[i].ts_ns + length);
    }
  }
  if (first == INT64_MAX) first = other, last = other_last;
  origin_ = first;
  trace_.info.origin_ns = first;
  trace_.info.dur_ns = last - first;
}

bool Merger::Rebase(int64_t& ts_ns) {
  if (!IsNear(ts_ns)) {
    ++distant_rows_;
    return false;
  }
  ts_ns -= origin_;
  return true;
}

void Merger::Merge(const TraceBuilder::Impl& impl) {
  // A last mark closes each shard's chunks: from here on lists may be freed while others are still read.
  for (const auto& shard : shards_) shard->impl->chunks.push_back({UINT64_MAX, shard->impl->Sizes()});
  MergeTexts();
  MergeThreads(impl);
  FindOrigin();
  InParallel({[this] { OrderSlices(); }, [this] { OrderGpuOps(); }, [this] { MergeFlows(); },
              [this] { OrderMemoryEvents(); }, [this] { MergeGpuAnnotations(); }, [this] { MergeCounters(); },
              [this] { MergeSamples(); }, [this] { MergeSystem(); }});
  Tasks gather;
  GatherSlices(gather);
  GatherGpuOps(gather);
  GatherMemoryEvents(gather);
  InParallel(gather);
  FinishSlices();
  FinishGpuOps();
  FinishMemoryEvents();
  MergeCollectives();
}

}  // namespace gapless::internal::merging
