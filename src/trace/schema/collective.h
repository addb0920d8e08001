// SPDX-License-Identifier: Apache-2.0
// Collective communication. One row per device kernel of a collective; without kernels (CPU backends) per host call; of
// a flight recorder per call that it kept, also of calls that never began or ended, which have no duration. Sorted by
// ts_ns; at the same time the host's come first, as their slices are sorted.
#pragma once

#include "trace/columns.h"
#include "trace/enums.h"

namespace gapless::internal {

template <template <class> class Of>
struct CollectiveColumns {
  Of<StringId> name = kRequired<Of>;
  Of<StringId> kind = kRequired<Of>;
  Of<StringId> group = kUnset;
  Of<StringId> dtype = kUnset;
  Of<int32_t> device = kUnset;  // absent: on the host, then pid and tid say where
  Of<int64_t> stream = kUnset;
  Of<RowOnly<int64_t>> pid = kUnset;
  Of<RowOnly<int64_t>> tid = kUnset;
  Of<int64_t> ts_ns = kRequired<Of>;
  Of<int64_t> dur_ns = kRequired<Of>;  // absent: it is not known how long it took
  Of<Derived<SliceId>> slice = kUnset;
  Of<Derived<GpuOpId>> gpu_op = kUnset;
  Of<int32_t> group_size = kUnset;
  Of<Derived<int64_t>> sequence = kUnset;
  Of<int64_t> in_elements = kUnset;
  Of<int64_t> out_elements = kUnset;
  Of<int64_t> bytes = kUnset;
  Of<int64_t> seq = kUnset;  // the same on all ranks
  Of<int32_t> src_rank = kUnset;
  Of<int32_t> dst_rank = kUnset;
  Of<StringId> group_ranks = kUnset;  // "[0, 1, 2, 3]"
  Of<StringId> state = kUnset;        // state by a flight recorder: "scheduled", "started", "completed"
  Of<StackId> stack = kUnset;
  Of<StringId> in_shape = kUnset;  // "[[3, 4]]"
  Of<StringId> out_shape = kUnset;
  Of<int64_t> timeout_ns = kUnset;

  static constexpr AboutTable kAbout{"collective",
                                     "Collective communication: one row per device kernel of a collective"};
  static constexpr ColumnList kColumns{
      RowKey(),
      TraceKey(),
      RankKey(),
      ShownColumn<&CollectiveColumns::name>("", "as recorded"),
      ShownColumn<&CollectiveColumns::kind>("", "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, …"),
      ShownColumn<&CollectiveColumns::slice>("id:slice", "the call on the host").As("slice_id"),
      ShownColumn<&CollectiveColumns::gpu_op>("id:gpu_op", "its kernel").As("gpu_op_id"),
      ShownColumn<&CollectiveColumns::device>("", "device; NULL: on the host"),
      ShownColumn<&CollectiveColumns::stream>("", "stream"),
      ShownColumn<&CollectiveColumns::group>("", "process group"),
      ShownColumn<&CollectiveColumns::group_size>("", "ranks in the group"),
      ShownColumn<&CollectiveColumns::sequence>("", "ordinal within its group"),
      ComputedColumn<int64_t>("match_id", "", "the same collective on other ranks has the same number"),
      ShownColumn<&CollectiveColumns::dtype>("", "element type"),
      ShownColumn<&CollectiveColumns::in_elements>("", "elements sent"),
      ShownColumn<&CollectiveColumns::out_elements>("", "elements received"),
      ShownColumn<&CollectiveColumns::bytes>("bytes", "message size, as the bandwidth formulas take it"),
      TimeColumn<&CollectiveColumns::ts_ns>("start, in run time"),
      ShownColumn<&CollectiveColumns::dur_ns>("ns", "duration; NULL: not known"),
      ComputedColumn<double>("algo_gbps", "GB/s", "algorithm bandwidth: bytes / duration"),
      ComputedColumn<double>("bus_gbps", "GB/s", "bus bandwidth: comparable with the speed of the links"),
      ShownColumn<&CollectiveColumns::seq>("", "number its library gave it within the group"),
      ShownColumn<&CollectiveColumns::src_rank>("", "sender, of a send or receive"),
      ShownColumn<&CollectiveColumns::dst_rank>("", "receiver, of a send or receive"),
      ShownColumn<&CollectiveColumns::group_ranks>("", "ranks in the group, as recorded"),
      ShownColumn<&CollectiveColumns::state>(
          "", "scheduled, started or completed, when a flight recorder was written; NULL: of another recorder"),
      ShownColumn<&CollectiveColumns::stack>("id:stack", "where it was called").As("stack_id"),
      ShownColumn<&CollectiveColumns::in_shape>("", "sizes of the tensors given, as recorded"),
      ShownColumn<&CollectiveColumns::out_shape>("", "sizes of the tensors filled, as recorded"),
      ShownColumn<&CollectiveColumns::timeout_ns>("ns", "how long its library waits before it gives up"),
      HiddenColumn<&CollectiveColumns::pid>(),
      HiddenColumn<&CollectiveColumns::tid>(),
  };
};
using CollectiveRow = CollectiveColumns<InRow>;
using CollectiveTable = TableFor<CollectiveColumns>;

}  // namespace gapless::internal
