// SPDX-License-Identifier: Apache-2.0
// Collective communication. One row per device kernel of a collective; without kernels (CPU backends) per host call.
// Sorted by ts_ns; at the same time the host's come first, as their slices are sorted.
#pragma once

#include "trace/column.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

struct CollectiveTable {
  Column<StringId> name;
  Column<StringId> kind;  // all_reduce, all_gather, …
  Column<SliceId> slice;
  Column<GpuOpId> gpu_op;
  Column<int32_t> device;  // kAbsent32: host
  Column<int64_t> stream;
  Column<StringId> group;
  Column<int32_t> group_size;  // kAbsent32: none
  Column<int64_t> sequence;    // ordinal within its group
  Column<int64_t> seq;         // number that the library gave it in its group, the same on all ranks; kAbsent: not said
  Column<int32_t> src_rank;    // source rank of a send or receive; kAbsent32: not recorded
  Column<int32_t> dst_rank;
  Column<StringId> group_ranks;  // "[0, 1, 2, 3]"; kNone: not said
  Column<StringId> dtype;
  Column<int64_t> in_elements;
  Column<int64_t> out_elements;
  Column<int64_t> bytes;  // message size as the bus-bandwidth formula takes it
  Column<int64_t> ts_ns;
  Column<int64_t> dur_ns;

  size_t size() const { return name.size(); }

  // Calls f(name, column) for every column, in the order of declaration.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    f("name", self.name);
    f("kind", self.kind);
    f("slice", self.slice);
    f("gpu_op", self.gpu_op);
    f("device", self.device);
    f("stream", self.stream);
    f("group", self.group);
    f("group_size", self.group_size);
    f("sequence", self.sequence);
    f("seq", self.seq);
    f("src_rank", self.src_rank);
    f("dst_rank", self.dst_rank);
    f("group_ranks", self.group_ranks);
    f("dtype", self.dtype);
    f("in_elements", self.in_elements);
    f("out_elements", self.out_elements);
    f("bytes", self.bytes);
    f("ts_ns", self.ts_ns);
    f("dur_ns", self.dur_ns);
  }
};

}  // namespace gapless::internal
