// SPDX-License-Identifier: Apache-2.0
// Adds the collectives of kernels and of the host. Both have the same arguments, and a size by the same rule.
#include "ingest/readers/kineto/event_rows.h"

namespace gapless::internal::kineto {
namespace {

// Returns the message size in bytes that the bus-bandwidth formula takes: what one rank ends up with (gathers) or
// puts in (everything else). Returns kAbsent if the recorder wrote no size, or the size is implausibly large.
int64_t MessageBytes(std::string_view kind, int64_t in_elements, int64_t out_elements, int64_t element_bytes) {
  const int64_t elements = kind == "all_gather" ? out_elements : in_elements;
  if (elements == kAbsent || elements < 0 || element_bytes == 0 || elements > INT64_MAX / 16) return kAbsent;
  return elements * element_bytes;
}

}  // namespace

// Returns the row of a collective without its place, with the recorder's arguments.
CollectiveRow EventRows::CollectiveOf(const EventFields& event, StringId name, StringId kind, int64_t ts_ns,
                                      int64_t dur_ns) {
  CollectiveRow row{.name = name, .kind = kind, .ts_ns = ts_ns, .dur_ns = dur_ns};
  row.group = texts_.Text(event.group_name);
  row.dtype = texts_.Text(event.dtype);
  row.group_size = Narrow(event.group_size);
  row.in_elements = event.in_elements, row.out_elements = event.out_elements;
  row.seq = event.seq;
  row.src_rank = Narrow(event.src_rank), row.dst_rank = Narrow(event.dst_rank);
  row.group_ranks = texts_.Text(event.group_ranks);
  row.bytes =
      MessageBytes(shard_.strings[kind], row.in_elements, row.out_elements, ElementBytes(shard_.strings[row.dtype]));
  return row;
}

// Adds the collective of a kernel. Its kind comes from the recorder's arguments if they name one: NCCL's kernel of
// a send or a receive has one name for both.
void EventRows::AddCollective(const EventFields& event, const NameTraits& traits, const GpuOpRow& op) {
  StringId kind = traits.collective;
  if (!event.collective.empty())
    if (const std::string_view given = CollectiveKind(TokenText(event.collective)); !given.empty())
      kind = shard_.Text(given);
  CollectiveRow row = CollectiveOf(event, op.name, kind, op.ts_ns, op.dur_ns);
  row.device = op.device, row.stream = op.stream;
  shard_.Add(row);
}

void EventRows::AddHostCollective(const EventFields& event, const SliceRow& slice) {
  CollectiveRow row = CollectiveOf(event, slice.name, shard_.Text(CollectiveKind(shard_.strings[slice.name])),
                                   slice.ts_ns, slice.dur_ns);
  row.pid = slice.pid, row.tid = slice.tid;
  shard_.Add(row);
}

}  // namespace gapless::internal::kineto
