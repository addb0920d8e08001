// SPDX-License-Identifier: Apache-2.0
// The device side: kernels, copies, memsets, whole graphs, synchronisations, metrics and memory.
#include <array>
#include <cmath>
#include <optional>

#include "base/strings.h"
#include "ingest/readers/nsys/meaning.h"

namespace gapless::internal::nsys {
namespace {

// nsys' numbers of memory kinds, which are not CUPTI's.
constexpr std::array<std::string_view, 8> kMemoryKinds = {"Pageable", "Pinned", "Device",  "Array",
                                                          "Managed",  "Device", "Managed", "Unknown"};
constexpr int64_t kPageable = 0, kPinned = 1, kUnknownMemory = 7;
constexpr std::array<std::string_view, 14> kCopyOperations = {
    "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};

template <size_t N>
std::string_view NameIn(const std::array<std::string_view, N>& names, int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(N) ? names[static_cast<size_t>(number)] : "Unknown";
}

// "Memcpy HtoD (Pageable -> Device)", as other recorders call it.
std::string CopyName(int64_t operation, int64_t from, int64_t to) {
  std::string name = StrCat("Memcpy ", NameIn(kCopyOperations, operation));
  if (from == kAbsent && to == kAbsent) return name;
  return StrCat(name, " (", NameIn(kMemoryKinds, from), " -> ", NameIn(kMemoryKinds, to), ")");
}

// Pages of managed memory move when somebody touches them, unless the program asked for it (a prefetch).
CopyKind KindOfCopy(std::string_view name, int64_t operation, int64_t cause) {
  constexpr int64_t kManagedToDevice = 11, kManagedToHost = 12, kAskedFor = 1;  // values of CUPTI's enumeration
  if (operation == kManagedToDevice && cause != kAskedFor) return CopyKind::kHtoDManaged;
  if (operation == kManagedToHost && cause != kAskedFor) return CopyKind::kDtoHManaged;
  return ClassifyCopy(name);
}

// The meaning of a number in syncType, by the version of nsys ("2024.5.1.113-…") that wrote it: there are three
// numberings, and ENUM_CUPTI_SYNC_TYPE of the export does not tell them apart. A row of a known call is what the call
// is (trace/syncs.cc), so this counts for rows without one.
std::optional<SyncKind> SyncKindOf(int64_t type, std::string_view version) {
  using enum SyncKind;
  constexpr std::optional<SyncKind> kNone;
  constexpr std::optional<SyncKind> kFirst[] = {kNone, kDevice, kEvent, kStream, kNone};        // up to 2024.4
  constexpr std::optional<SyncKind> kSecond[] = {kDevice, kEvent, kStream, kNone, kNone};       // 2024.5 and 2024.6
  constexpr std::optional<SyncKind> kThird[] = {kNone, kEvent, kStreamWait, kStream, kDevice};  // from 2025.1 on
  if (type < 0 || type > 4) return kNone;
  const std::string_view release = version.substr(0, 6);  // "2024.5"; an export without a version is an old one
  const auto& kinds = release >= "2025.1" ? kThird : release >= "2024.5" ? kSecond : kFirst;
  return kinds[type];
}

}  // namespace

GpuOpRow Meaning::OpOf(const Work& work, const Span& span, StringId name, GpuOpKind kind) {
  GpuOpRow row{.name = name, .kind = kind, .ts_ns = span.ts_ns, .dur_ns = span.dur_ns};
  row.device = facts_.DeviceOf(work.device, work.global_pid);
  row.stream = work.stream, row.context = work.context;
  row.correlation = correlations_.Unique(work.correlation, work.global_pid);
  return row;
}

// Adds a kernel with its class, which is found once per distinct name; collectives get a row of their own, too.
void Meaning::AddKernel(GpuOpRow row) {
  const auto [known, first] = kernels_.try_emplace(static_cast<uint32_t>(row.name));
  if (first) known->second = ClassifyKernel(std::string(shard_.strings[row.name]));
  row.op_class = known->second.op_class, row.matrix_unit = known->second.matrix_unit;
  row.precision = known->second.precision;
  shard_.Add(row);
  if (row.op_class != GpuOpClass::kCommunication) return;
  shard_.Add(CollectiveRow{.name = row.name,
                           .kind = shard_.Text(CollectiveKind(std::string(shard_.strings[row.name]))),
                           .device = row.device,
                           .stream = row.stream,
                           .ts_ns = row.ts_ns,
                           .dur_ns = row.dur_ns});
}

void Meaning::Add(const Kernel& kernel) {
  Span span;
  if (!OpTimeOf(kernel.work, span)) return;
  StringId name = NameOf(kernel.name);
  if (name == StringId::kNone) name = NameOf(kernel.short_name);
  GpuOpRow row = OpOf(kernel.work, span, name, GpuOpKind::kKernel);
  row.registers = kernel.registers;
  row.grid_x = kernel.grid[0], row.grid_y = kernel.grid[1], row.grid_z = kernel.grid[2];
  row.block_x = kernel.block[0], row.block_y = kernel.block[1], row.block_z = kernel.block[2];
  const int64_t fixed = kernel.static_shared, given = kernel.dynamic_shared;
  if (fixed >= 0 && given >= 0 && fixed + given <= INT32_MAX) row.shared_bytes = static_cast<int32_t>(fixed + given);
  if (kernel.graph > 0) row.graph_id = kernel.graph;
  AddKernel(row);
}

void Meaning::AddCopy(const Work& work, int64_t bytes, GpuOpKind kind, const Known& known) {
  Span span;
  if (!OpTimeOf(work, span)) return;
  GpuOpRow row = OpOf(work, span, known.name, kind);
  row.op_class = GpuOpClass::kCopy, row.matrix_unit = MatrixUnit::kNo;
  row.copy_kind = known.kind;
  row.bytes = bytes;
  if (row.bytes > 0 && row.dur_ns > 0)
    row.bandwidth_gbps = static_cast<double>(row.bytes) / static_cast<double>(row.dur_ns);
  shard_.Add(row);
}

void Meaning::Add(const Copy& copy) {
  const auto [known, first] = copies_.try_emplace({copy.operation, copy.from, copy.to, copy.cause});
  if (first) {
    const std::string name = CopyName(copy.operation, copy.from, copy.to);
    known->second = {shard_.Name(name), KindOfCopy(name, copy.operation, copy.cause)};
  }
  AddCopy(copy.work, copy.bytes, GpuOpKind::kMemcpy, known->second);
}

void Meaning::Add(const Memset& memset) {
  const auto [known, first] = memsets_.try_emplace(memset.memory);
  if (first) known->second.name = shard_.Name(StrCat("Memset (", NameIn(kMemoryKinds, memset.memory), ")"));
  AddCopy(memset.work, memset.bytes, GpuOpKind::kMemset, known->second);
}

// With --cuda-graph-trace=graph there is one row per launch of a graph instead of its kernels.
void Meaning::Add(const Graph& graph) {
  Span span;
  if (!OpTimeOf(graph.work, span)) return;
  GpuOpRow row = OpOf(graph.work, span, shard_.Text("CUDA graph"), GpuOpKind::kKernel);
  row.graph_id = graph.graph;
  AddKernel(row);
}

void Meaning::Add(const Sync& sync) {
  constexpr int64_t kNoNumber = 0xFFFFFFFF;  // "no stream" and "no event"
  Span span;
  if (!TimeOf(sync.work.start, sync.work.end, span)) return;
  const std::optional<SyncKind> kind = SyncKindOf(sync.type, facts_.version);
  if (!kind) return;
  SyncRow row{.kind = *kind, .ts_ns = span.ts_ns, .dur_ns = span.dur_ns};
  if (sync.work.device != kAbsent32) row.device = facts_.DeviceOf(sync.work.device, sync.work.global_pid);
  if (sync.work.stream != kNoNumber) row.stream = sync.work.stream;
  if (sync.event != kNoNumber) row.event = sync.event;
  row.correlation = correlations_.Unique(sync.work.correlation, sync.work.global_pid);
  shard_.Add(row);
}

// Times before the start are noise of samples that were under way.
void Meaning::Add(const Metric& metric) {
  ++tally_.events;
  if (metric.time == kAbsent || metric.time < 0 || !std::isfinite(metric.value)) return void(++tally_.bad_times);
  shard_.Add(CounterRow{
      .name = shard_.Name(metric.name), .device = metric.device, .ts_ns = metric.time, .value = metric.value});
}

// Rows carry the change only, so totals are summed up here; they are lower bounds, for releases of memory that was
// allocated before the recording are ignored. A table comes from one thread, in the order of time.
void Meaning::Add(const Allocation& row) {
  ++tally_.events;
  if (row.time == kAbsent) return void(++tally_.bad_times);
  if (row.memory < 0 || row.memory >= kUnknownMemory || row.bytes < 0) return;
  const bool on_host = row.memory == kPageable || row.memory == kPinned;
  const int32_t device = on_host ? kAbsent32 : facts_.DeviceOf(row.device, row.global_pid);
  int64_t& total = allocated_[{device, on_host}];
  const std::pair<int64_t, int64_t> block(ProcessOf(row.global_pid), row.address);
  if (row.operation == 0) {
    if (!allocations_.try_emplace(block, row.bytes).second || __builtin_add_overflow(total, row.bytes, &total)) return;
  } else {
    const auto allocation = allocations_.find(block);
    if (row.operation != 1 || allocation == allocations_.end()) return;
    total = std::max<int64_t>(total - allocation->second, 0);
    allocations_.erase(allocation);
  }
  shard_.Add(CounterRow{.name = shard_.Text(on_host ? "CUDA host memory" : "CUDA memory"),
                        .unit = shard_.Text("bytes"),
                        .device = device,
                        .ts_ns = row.time,
                        .value = static_cast<double>(total)});
}

}  // namespace gapless::internal::nsys
