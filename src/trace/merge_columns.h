// SPDX-License-Identifier: Apache-2.0
// Orders the rows of the tables that shards hold as columns, and gathers each column in that order. Internal to
// trace/.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "trace/merge.h"
#include "trace/order.h"

namespace gapless::internal::merging {

inline size_t SegmentsFor(size_t rows) { return (rows + kSegmentRows - 1) >> kSegmentBits; }

// The segments of one column, numbered through all shards. Where a shard has one value for all of its rows, all of its
// segments are one that holds this value.
template <class Store, class T>
class ColumnSegments {
 public:
  ColumnSegments(const Shards& shards, Store Shard::Impl::*store, GrowingColumn<T> Store::*column) {
    for (const auto& shard : shards) {
      const Store& rows = shard->impl.get()->*store;
      const GrowingColumn<T>& values = rows.*column;
      if (values.same() && rows.rows > 0)
        fillers_.push_back(std::make_unique<std::vector<T>>(std::min(kSegmentRows, rows.rows), values[0]));
      for (size_t i = 0; i < SegmentsFor(rows.rows); ++i)
        segments_.push_back(values.same() ? fillers_.back()->data() : values.Data(i));
    }
  }
  // `source` is a row as RowOrder names it.
  const T& operator[](uint32_t source) const { return segments_[source >> kSegmentBits][source & kSegmentMask]; }

 private:
  std::vector<const T*> segments_;
  std::vector<std::unique_ptr<std::vector<T>>> fillers_;
};

// Returns all rows of a table in file order.
template <class Store>
RowOrder RowsInFileOrder(const Shards& shards, Store Shard::Impl::*store, ListIndex list) {
  RowOrder order;
  std::vector<uint32_t> first_row;
  size_t count = 0;
  for (uint32_t s = 0; s < shards.size(); ++s) {
    const size_t rows = (shards[s]->impl.get()->*store).rows;
    first_row.push_back(static_cast<uint32_t>(order.shard_of_segment.size() << kSegmentBits));
    order.shard_of_segment.resize(order.shard_of_segment.size() + SegmentsFor(rows), s);
    count += rows;
  }
  order.rows.reserve(count);
  for (const Piece& piece : PiecesInFileOrder(shards, list))
    for (uint32_t row = piece.begin; row < piece.end; ++row) order.rows.push_back(first_row[piece.shard] + row);
  return order;
}

// Orders the rows of a table by time, those of one time by second_key(source); leaves out those that are far from all
// others.
template <class Store, class SecondKey>
RowOrder Merger::OrderByTime(Store Shard::Impl::*store, ListIndex list, const SecondKey& second_key) {
  RowOrder order = RowsInFileOrder(shards_, store, list);
  const ColumnSegments<Store, int64_t> starts(shards_, store, &Store::ts_ns);
  distant_rows_ +=
      static_cast<int64_t>(std::erase_if(order.rows, [&](uint32_t source) { return !IsNear(starts[source]); }));
  StableOrder(order.rows, [&](uint32_t source) { return SortKey{starts[source], second_key(source)}; });
  return order;
}

// Returns the one value that all rows have after map(value, shard), or nothing.
template <class Store, class Columns, class T, class Map>
auto OneValue(const Shards& shards, Store Shard::Impl::*store, GrowingColumn<T> Columns::*column, const Map& map) {
  std::optional<decltype(map(T(), 0))> one;
  for (uint32_t s = 0; s < shards.size(); ++s) {
    const Store& rows = shards[s]->impl.get()->*store;
    if (rows.rows == 0) continue;
    if (!(rows.*column).same()) return decltype(one)();
    const auto value = map((rows.*column)[0], s);
    if (one && !SameBits(*one, value)) return decltype(one)();
    one = value;
  }
  return one;
}

// Returns the column of map(value, shard) in the order of the rows, and frees that of the shards.
template <class Store, class Columns, class T, class Map>
auto Gather(const Shards& shards, const RowOrder& order, Store Shard::Impl::*store, GrowingColumn<T> Columns::*column,
            const Map& map) {
  using Out = decltype(map(T(), 0));
  if (const auto one = OneValue(shards, store, column, map)) return Column<Out>::Same(order.rows.size(), *one);
  auto gathered = Column<Out>::OfSize(order.rows.size());
  Out* out = gathered.mutable_data();
  const ColumnSegments<Store, T> segments(shards, store, column);
  for (const uint32_t source : order.rows)
    *out++ = map(segments[source], order.shard_of_segment[source >> kSegmentBits]);
  for (const auto& shard : shards) (shard->impl.get()->*store.*column).Free();
  return gathered;
}

// Adds a task for each column that both hold. Texts and threads get their ids in the trace, times its zero.
template <class Store, class Table>
void Merger::AddGatherTasks(Tasks& tasks, const RowOrder& order, Store Shard::Impl::*store, Table& table) {
  VisitPairs<Store, Table>([&](auto column, auto to) {
    tasks.push_back([this, &order, store, &table, column, to] {
      using T = typename std::decay_t<decltype(table.*to)>::value_type;
      const auto gather = [&](const auto& map) { table.*to = Gather(shards_, order, store, column, map); };
      if constexpr (std::is_same_v<T, StringId>) {
        gather([this](T id, uint32_t shard) { return Text(id, shard); });
      } else if constexpr (std::is_same_v<T, ThreadId>) {
        gather([this](uint32_t local, uint32_t shard) { return thread_ids_[shard][local]; });
      } else if constexpr (std::is_same_v<T, int64_t>) {
        const int64_t zero = column == &Store::ts_ns ? origin_ : 0;
        gather([zero](T value, uint32_t) { return value - zero; });
      } else {
        gather([](T value, uint32_t) { return value; });
      }
    });
  });
}

}  // namespace gapless::internal::merging
