// SPDX-License-Identifier: Apache-2.0
// Merges the slices: orders them by time, and gathers each column in that order.
#include "trace/merge.h"
#include "trace/order.h"

namespace gapless::internal::merging {

// Returns a task that copies one column of all slices to its final place, in the final order, and frees its
// segments. `map` turns a shard's ids into the trace's.
template <class T>
std::function<void()> Merger::GatherTask(Segments<T> SliceStore::*from, Column<T>& to,
                                         std::function<T(T, uint32_t)> map) {
  return [this, from, &to, map = std::move(map)] {
    std::vector<const T*> segments;
    for (const auto& shard : shards_)
      for (size_t i = 0; i < (shard->impl->slices.*from).segments(); ++i)
        segments.push_back((shard->impl->slices.*from).Data(i));
    to = Column<T>::OfSize(slice_order_.size());
    T* out = to.mutable_data();
    if (map == nullptr) {
      for (const uint32_t source : slice_order_) *out++ = segments[source >> kSegmentBits][source & kSegmentMask];
    } else {
      for (const uint32_t source : slice_order_) {
        const uint32_t segment = source >> kSegmentBits;
        *out++ = map(segments[segment][source & kSegmentMask], shard_of_segment_[segment]);
      }
    }
    for (const auto& shard : shards_) (shard->impl->slices.*from).Free();
  };
}

// Longer slices come first among equal starts, so that parents come before their children.
void Merger::OrderSlices() {
  std::vector<uint32_t> first_segment;
  std::vector<const int64_t*> starts, lengths;
  for (uint32_t s = 0; s < shards_.size(); ++s) {
    const SliceStore& slices = shards_[s]->impl->slices;
    first_segment.push_back(static_cast<uint32_t>(shard_of_segment_.size()));
    shard_of_segment_.resize(shard_of_segment_.size() + slices.ts_ns.segments(), s);
    for (size_t i = 0; i < slices.ts_ns.segments(); ++i) {
      starts.push_back(slices.ts_ns.Data(i));
      lengths.push_back(slices.dur_ns.Data(i));
    }
  }
  size_t rows = 0;
  for (const auto& shard : shards_) rows += shard->impl->slices.rows;
  slice_order_.reserve(rows);
  for (const Piece& piece : PiecesInFileOrder(shards_, kSliceList))
    for (uint32_t row = piece.begin; row < piece.end; ++row)
      slice_order_.push_back((first_segment[piece.shard] << kSegmentBits) + row);
  const auto start_of = [&](uint32_t source) { return starts[source >> kSegmentBits][source & kSegmentMask]; };
  distant_rows_ +=
      static_cast<int64_t>(std::erase_if(slice_order_, [&](uint32_t source) { return !IsNear(start_of(source)); }));
  StableOrder(slice_order_, [&](uint32_t source) {
    const size_t segment = source >> kSegmentBits, at = source & kSegmentMask;
    return SortKey{starts[segment][at], -lengths[segment][at]};
  });
}

void Merger::GatherSlices(Tasks& tasks) {
  SliceTable& out = trace_.slices;
  const auto text = [this](StringId id, uint32_t shard) { return Text(id, shard); };
  tasks.push_back(
      GatherTask<int64_t>(&SliceStore::ts_ns, out.ts_ns, [this](int64_t ts, uint32_t) { return ts - origin_; }));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::dur_ns, out.dur_ns));
  tasks.push_back(GatherTask<StringId>(&SliceStore::name, out.name, text));
  tasks.push_back(GatherTask<SliceCategory>(&SliceStore::category, out.category));
  tasks.push_back(GatherTask<ApiKind>(&SliceStore::api, out.api));
  tasks.push_back(GatherTask<uint32_t>(&SliceStore::thread, slice_threads_, [this](uint32_t local, uint32_t shard) {
    return thread_ids_[shard][local].value;
  }));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::external_id, out.external_id));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::correlation, out.correlation));
  tasks.push_back(GatherTask<int64_t>(&SliceStore::sequence, out.sequence));
  tasks.push_back(GatherTask<StringId>(&SliceStore::input_shapes, out.input_shapes, text));
  tasks.push_back(GatherTask<StringId>(&SliceStore::input_types, out.input_types, text));
  tasks.push_back(GatherTask<StringId>(&SliceStore::concrete_inputs, out.concrete_inputs, text));
  tasks.push_back(GatherTask<StringId>(&SliceStore::source_line, out.source_line, text));
}

// The columns that are derived later start out absent.
void Merger::FinishSlices() {
  SliceTable& out = trace_.slices;
  const size_t rows = slice_order_.size();
  slice_order_ = {};
  out.thread = Column<ThreadId>::View({reinterpret_cast<const ThreadId*>(slice_threads_.data()), rows},
                                      std::make_shared<Column<uint32_t>>(slice_threads_));
  out.self_ns = Column<int64_t>::OfSize(rows);
  out.depth = Column<uint16_t>::OfSize(rows);
  out.parent = Column<SliceId>::OfSize(rows, SliceId());
  out.step = Column<StepId>::OfSize(rows, StepId());
}

}  // namespace gapless::internal::merging
