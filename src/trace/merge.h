// SPDX-License-Identifier: Apache-2.0
// From the rows of several shards to the tables of one trace; merge.cc explains the method. Internal to trace/.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "trace/builder_impl.h"

namespace gapless::internal {

class ThreadPool;

namespace merging {

using Shard = TraceBuilder::Shard;
using Shards = std::vector<std::unique_ptr<Shard>>;

// A run of rows of one list of one shard.
struct Piece {
  uint32_t shard, begin, end;
};
std::vector<Piece> PiecesInFileOrder(const Shards& shards, ListIndex list);

// The rows of a table in their order, each as (segment << kSegmentBits | place). Segments are numbered through all
// shards.
struct RowOrder {
  std::vector<uint32_t> shard_of_segment{}, rows{};
};

// All rows of a small list in file order, then by time. Frees the shards' copies.
// `adjust` turns a row's texts and times into the trace's, or returns false: the row is left out.
template <class Row, class RowTime>
std::vector<Row> TakeRows(const Shards& shards, ListIndex list, RowList<Row> Shard::Impl::*member, RowTime time,
                          const std::function<bool(Row&, uint32_t shard)>& adjust) {
  std::vector<Row> rows;
  size_t count = 0;
  for (const auto& shard : shards) count += (shard->impl.get()->*member).size();
  rows.reserve(count);
  for (const Piece& piece : PiecesInFileOrder(shards, list))
    for (uint32_t row = piece.begin; row < piece.end; ++row) {
      rows.push_back((shards[piece.shard]->impl.get()->*member)[row]);
      if (!adjust(rows.back(), piece.shard)) rows.pop_back();
    }
  for (const auto& shard : shards) (shard->impl.get()->*member).Free();
  const auto earlier = [&](const Row& a, const Row& b) { return time(a) < time(b); };
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::stable_sort(rows.begin(), rows.end(), earlier);
  return rows;
}

// Returns the column of get(row) for each row, in their order.
template <class Row, class Get>
auto ColumnFrom(const std::vector<Row>& rows, Get get) {
  using T = std::decay_t<decltype(get(rows.front()))>;
  auto column = Column<T>::OfSize(rows.size());
  T* out = column.mutable_data();
  for (size_t i = 0; i < rows.size(); ++i) out[i] = get(rows[i]);
  return column;
}

// Fills the columns of `table` that rows give. `text` returns the trace's id of a text as the rows have it.
template <class Row, class Table, class Text>
void FillFrom(const std::vector<Row>& rows, Table& table, const Text& text) {
  VisitPairs<Row, Table>([&](auto from, auto to) {
    using T = typename std::decay_t<decltype(table.*to)>::value_type;
    table.*to = ColumnFrom(rows, [&](const Row& row) -> T {
      if constexpr (std::is_same_v<T, StringId>)
        return text(row.*from);
      else
        return static_cast<T>(row.*from);
    });
  });
}
template <class Row, class Table>
void FillFrom(const std::vector<Row>& rows, Table& table) {
  FillFrom(rows, table, [](StringId id) { return id; });
}

// A Merger is used once: its functions empty the shards. TakeSyncs(), TakeSteps() and TakeMessageCalls() come after
// Merge(), since they need the texts and the zero of the trace.
class Merger {
 public:
  Merger(Shards& shards, Trace& trace, ThreadPool* pool) : shards_(shards), trace_(trace), pool_(pool) {}

  // Everything but what is derived.
  void Merge(const TraceBuilder::Impl& impl);
  int64_t unmatched_flow_ends() const { return unmatched_flow_ends_; }
  // Rows left out because their time has nothing to do with the others'.
  int64_t distant_rows() const { return distant_rows_; }
  // GPU operations left out because the recorder gave them no time, or one that cannot be (merge_gpu_ops.cc).
  int64_t ops_without_time() const { return ops_without_time_; }
  int64_t overrunning_ops() const { return overrunning_ops_; }
  std::vector<SyncRow> TakeSyncs();
  std::vector<StepRow> TakeSteps();
  std::vector<CollectiveRow> TakeMessageCalls();

 private:
  using Tasks = std::vector<std::function<void()>>;

  StringId Text(StringId id, uint32_t shard) const { return text_ids_[shard][static_cast<uint32_t>(id)]; }
  // Turns the texts and the time of a shard's row into the trace's; false: it is too far from the others.
  template <class Row>
  bool Adjust(Row& row, uint32_t shard) {
    VisitPairs<Row, Row>([&](auto member, auto) {
      if constexpr (std::is_same_v<decltype(row.*member), StringId&>) row.*member = Text(row.*member, shard);
    });
    return Rebase(row.ts_ns);
  }
  void InParallel(const Tasks& tasks);
  void MergeTexts();
  void MergeSamples();
  void MergeSystem();
  void MergeThreads(const TraceBuilder::Impl& impl);
  void FindOrigin();
  int64_t TypicalTime() const;
  // Is this what CUPTI writes of a GPU operation whose times the device did not report?
  static bool HasNoTime(int64_t ts_ns, int64_t dur_ns) { return ts_ns == 0 && dur_ns == 0; }
  bool IsNear(int64_t ts_ns) const { return ts_ns >= nearest_ && ts_ns <= furthest_; }
  // Moves a row's time to the trace's zero; false: it is too far from the others.
  bool Rebase(int64_t& ts_ns);
  void OrderSlices();
  void GatherSlices(Tasks& tasks);
  void FinishSlices();
  void OrderGpuOps();
  void GatherGpuOps(Tasks& tasks);
  void FinishGpuOps();
  void OrderMemoryEvents();
  void GatherMemoryEvents(Tasks& tasks);
  void FinishMemoryEvents();
  void MergeGpuAnnotations();
  void MergeCollectives();
  void MergeCounters();
  void MergeFlows();
  template <class Store, class SecondKey>
  RowOrder OrderByTime(Store Shard::Impl::*store, ListIndex list, const SecondKey& second_key);
  template <class Store, class Table>
  void AddGatherTasks(Tasks& tasks, const RowOrder& order, Store Shard::Impl::*store, Table& table);

  Shards& shards_;
  Trace& trace_;
  ThreadPool* pool_;
  std::vector<std::vector<StringId>> text_ids_;    // [shard][local id]
  std::vector<std::vector<ThreadId>> thread_ids_;  // [shard][local index]
  int64_t origin_ = 0, nearest_ = 0, furthest_ = 0;
  int64_t unmatched_flow_ends_ = 0;
  std::atomic<int64_t> distant_rows_{0};
  int64_t ops_without_time_ = 0, overrunning_ops_ = 0;
  RowOrder slice_order_, gpu_op_order_, memory_order_;
};

}  // namespace merging
}  // namespace gapless::internal
