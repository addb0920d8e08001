// SPDX-License-Identifier: Apache-2.0
// Adds the rows of a CUPTI stream that are not GPU operations or calls: ranges (NVTX), memory, and what describes
// the process, its devices and threads.
//
// Memory records carry the change only, so the totals are summed up here. Releases of memory that was allocated
// before the recording began are ignored, and the totals never go below 0: they are lower bounds of the real ones.
#include <algorithm>

#include "base/strings.h"
#include "ingest/readers/cupti/rows.h"
#include "ingest/readers/cupti/values.h"

namespace gapless::internal::cupti {
namespace {

using wire::FieldReader;
using wire::RecordType;

constexpr uint64_t kMarkerInstant = 1, kMarkerStart = 2, kMarkerEnd = 4;  // CUPTI's flags
constexpr uint64_t kObjectThread = 2;                                     // CUPTI's object kinds
// Limits the memory that a damaged or endless stream of range starts can take.
constexpr size_t kMaxOpenRanges = 1 << 20;
constexpr uint64_t kAllocation = 1, kRelease = 2;  // CUPTI's memory operations

}  // namespace

// A range is two records with one id, in the order in which CUPTI gives its buffers back: the end may come first.
void Rows::AddMarker(FieldReader& fields) {
  const int64_t ts_ns = ReadTime(RecordType::kMarker, fields);
  const uint64_t flags = fields.Next(), id = fields.Next(), thread = fields.Next(), name = fields.Next();
  if (fields.missing()) return Tell(Note::kBadRecord);
  if (ts_ns == kAbsent) return Tell(Note::kBadTime);
  if ((flags & kMarkerInstant) != 0) return Tell(Note::kInstant);
  if ((flags & (kMarkerStart | kMarkerEnd)) == 0 || open_ranges_.size() >= kMaxOpenRanges) return;
  const bool starts = (flags & kMarkerStart) != 0;
  const OpenRange here{.name = starts ? NameOf(name).text : StringId::kNone,
                       .ts_ns = ts_ns,
                       .tid = thread == 0 ? pid_ : Wide(thread - 1)};
  const auto [other, fresh] = open_ranges_.try_emplace(id, here);
  if (fresh) return;
  const OpenRange& start = starts ? here : other->second;
  const int64_t end_ns = starts ? other->second.ts_ns : ts_ns;
  if (end_ns < start.ts_ns) {
    Tell(Note::kBadTime);
  } else {
    ++events_;
    shard_.Add(SliceRow{.name = start.name,
                        .category = SliceCategory::kAnnotation,
                        .pid = pid_,
                        .tid = start.tid,
                        .ts_ns = start.ts_ns,
                        .dur_ns = end_ns - start.ts_ns});
  }
  open_ranges_.erase(other);
}

// Adds a counter of bytes.
void Rows::Count(std::string_view name, int32_t device, int64_t ts_ns, int64_t bytes) {
  ++events_;
  shard_.Add(CounterRow{.name = shard_.Text(name),
                        .unit = shard_.Text("bytes"),
                        .device = device,
                        .ts_ns = ts_ns,
                        .value = static_cast<double>(bytes)});
}

// Adds the total of allocated bytes after an allocation or a release. The device stands in the record only for
// memory on a device, so its field must not be read otherwise.
void Rows::AddMemory(FieldReader& fields) {
  const int64_t ts_ns = ReadTime(RecordType::kMemory, fields);
  const uint64_t operation = fields.Next(), kind = fields.Next(), address = fields.Next();
  const int64_t bytes = Wide(fields.Next());
  const MemoryPlace place = PlaceOf(kind);
  const int32_t device = place == MemoryPlace::kDevice ? Narrow(fields.Next()) : kAbsent32;
  if (fields.missing()) return Tell(Note::kBadRecord);
  if (ts_ns == kAbsent) return Tell(Note::kBadTime);
  if (place == MemoryPlace::kOther || bytes == kAbsent) return;
  int64_t& total = allocated_[device];
  if (operation == kAllocation) {
    if (!allocations_.try_emplace(address, bytes).second || __builtin_add_overflow(total, bytes, &total)) return;
  } else if (operation == kRelease) {
    const auto allocation = allocations_.find(address);
    if (allocation == allocations_.end()) return;  // made before the recording began
    total = std::max<int64_t>(total - allocation->second, 0);
    allocations_.erase(allocation);
  } else {
    return;
  }
  Count(place == MemoryPlace::kDevice ? "CUDA memory" : "CUDA host memory", device, ts_ns, total);
}

void Rows::AddMemoryPool(FieldReader& fields) {
  const int64_t ts_ns = ReadTime(RecordType::kMemoryPool, fields);
  (void)fields.Next();  // operation
  (void)fields.Next();  // type
  (void)fields.Next();  // address
  const int64_t bytes = Wide(fields.Next());
  const uint64_t used_1 = fields.Next();
  (void)fields.Next();  // release threshold
  const int32_t device = Narrow(fields.Next());
  if (fields.missing()) return Tell(Note::kBadRecord);
  if (ts_ns == kAbsent || bytes == kAbsent) return Tell(Note::kBadTime);
  Count("CUDA memory pool", device, ts_ns, bytes);
  if (used_1 != 0 && used_1 - 1 <= INT64_MAX)
    Count("CUDA memory pool in use", device, ts_ns, static_cast<int64_t>(used_1 - 1));
}

// Adds a device. 32 threads a warp, as on all of NVIDIA's GPUs; a number of warps that cannot be is left absent.
void Rows::AddDevice(FieldReader& fields) {
  DeviceRow row{.device = Narrow(fields.Next()), .vendor = Vendor::kNvidia};
  row.name = TextOf(fields.Next());
  const uint64_t high = fields.Next(), low = fields.Next();
  row.uuid = UuidText(high, low);
  row.compute_major = Narrow(fields.Next());
  row.compute_minor = Narrow(fields.Next());
  row.sm_count = Narrow(fields.Next());
  row.memory_bytes = Wide(fields.Next());
  row.clock_khz = Wide(fields.Next());
  const uint64_t warps = fields.Next();
  row.max_threads_per_sm = warps == 0 || warps > 1024 ? kAbsent32 : static_cast<int32_t>(warps * 32);
  if (fields.missing() || row.device == kAbsent32) return Tell(Note::kBadRecord);
  builder_.AddDevice(std::move(row));
}

void Rows::AddName(FieldReader& fields) {
  const uint64_t kind = fields.Next(), process = fields.Next(), thread = fields.Next();
  (void)fields.Next();
  const std::string_view name = TextOf(fields.Next());
  if (kind == kObjectThread && !fields.missing() && !name.empty())
    builder_.NameThread(Wide(process), Wide(thread), name);
}

void Rows::AddThread(FieldReader& fields) {
  const int64_t thread = Wide(fields.Next());
  const std::string_view name = TextOf(fields.Next());
  if (thread != kAbsent && !name.empty()) builder_.NameThread(pid_, thread, name);
}

}  // namespace gapless::internal::cupti
