// SPDX-License-Identifier: Apache-2.0
// Writes the arguments of collectives with the keys of PyTorch's recorder, so that the file reads back.
//
// The table of collectives has no reference to the GPU operation or slice that it came from, so rows are matched
// by time, place and name. Both sides are ordered by time, which makes it one pass. Of rows that look alike each
// is used once, in their order.
#include "convert/writers/chrome/collectives.h"

namespace gapless::internal::chrome {
namespace {

constexpr size_t kMaxAtOnce = 64;  // rows of one time that are looked at

// Returns the name that the reader takes for this kind.
std::string_view NameOfKind(std::string_view kind) {
  if (kind == "send_recv") return "sendrecv";
  return kind == "other" ? "nccl:other" : kind;
}

}  // namespace

template <class Fits>
void Collectives::AddFirst(int64_t ts_ns, Fits fits, Events& out) {
  const CollectiveTable& rows = trace_.collectives;
  while (at_ < rows.size() && rows.ts_ns[at_] < ts_ns) ++at_;
  const size_t last = std::min(rows.size(), at_ + kMaxAtOnce);
  for (size_t row = at_; row < last && rows.ts_ns[row] == ts_ns; ++row) {
    if (used_[row] || !fits(row)) continue;
    used_[row] = true;
    return Write(row, out);
  }
}

void Collectives::AddArgs(GpuOpId op, Events& out) {
  const GpuOpTable& ops = trace_.gpu_ops;
  const CollectiveTable& rows = trace_.collectives;
  const size_t i = op.value;
  const auto fits = [&](size_t row) {
    return rows.device[row] == ops.device[i] && rows.stream[row] == ops.stream[i] &&
           rows.dur_ns[row] == ops.dur_ns[i] && rows.name[row] == ops.name[i];
  };
  AddFirst(ops.ts_ns[i], fits, out);
}

void Collectives::AddArgs(SliceId slice, Events& out) {
  const SliceTable& slices = trace_.slices;
  const CollectiveTable& rows = trace_.collectives;
  const size_t i = slice.value;
  const auto fits = [&](size_t row) {
    const SliceId its = rows.slice[row];
    return rows.device[row] == kAbsent32 && rows.dur_ns[row] == slices.dur_ns[i] && rows.name[row] == slices.name[i] &&
           its.valid() && slices.thread[its.value] == slices.thread[i];
  };
  AddFirst(slices.ts_ns[i], fits, out);
}

// Writes the fields that the reader of Kineto knows; absent ones are left out.
void Collectives::Write(size_t row, Events& out) const {
  const CollectiveTable& rows = trace_.collectives;
  out.Arg("Collective name", NameOfKind(trace_.Text(rows.kind[row]))).Arg("dtype", rows.dtype[row]);
  out.Arg("In msg nelems", rows.in_elements[row]).Arg("Out msg nelems", rows.out_elements[row]);
  out.Arg("Group size", rows.group_size[row]).Arg("Process Group Name", rows.group[row]);
  out.Arg("Seq", rows.seq[row]).Arg("Src Rank", rows.src_rank[row]).Arg("Dst Rank", rows.dst_rank[row]);
  out.Arg("Process Group Ranks", rows.group_ranks[row]);
}

}  // namespace gapless::internal::chrome
