// SPDX-License-Identifier: Apache-2.0
// Reads the device side: kernels, copies, memsets, whole graphs, and synchronisations.
//
// Each function names the columns that it wants; the constants before it are their places in that list. Columns
// that an older version lacks are absent in every row.
#include <array>
#include <optional>

#include "base/strings.h"
#include "ingest/readers/nsys/tables.h"

namespace gapless::internal::nsys {
namespace {

// nsys' numbers of memory kinds, which are not CUPTI's.
constexpr std::array<std::string_view, 8> kMemoryKinds = {"Pageable", "Pinned", "Device",  "Array",
                                                          "Managed",  "Device", "Managed", "Unknown"};
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

}  // namespace

// Adds a kernel with its class, which is found once per distinct name; collectives get a row of their own, too.
void Importer::AddKernel(GpuOpRow row) {
  const auto [known, first] = kernels_.try_emplace(static_cast<uint32_t>(row.name));
  if (first) known->second = ClassifyKernel(std::string(shard_.strings[row.name]));
  row.op_class = known->second.op_class, row.matrix_unit = known->second.matrix_unit;
  row.precision = known->second.precision;
  shard_.Add(row);
  if (row.op_class != GpuOpClass::kCommunication) return;
  shard_.Add(CollectiveRow{.name = row.name,
                           .kind = Interned(CollectiveKind(std::string(shard_.strings[row.name]))),
                           .device = row.device,
                           .stream = row.stream,
                           .ts_ns = row.ts_ns,
                           .dur_ns = row.dur_ns});
}

void Importer::ReadKernels() {
  enum { kStart, kEnd, kDevice, kStream, kShortName, kName, kProcess, kCorrelation, kContext, kRegisters, kGrid };
  constexpr int kBlock = kGrid + 3, kStaticShared = kBlock + 3, kDynamicShared = kStaticShared + 1,
                kGraph = kDynamicShared + 1;
  auto rows = database_.Select("CUPTI_ACTIVITY_KIND_KERNEL",
                               {"start", "end", "deviceId", "streamId", "shortName", "demangledName", "globalPid",
                                "correlationId", "contextId", "registersPerThread", "gridX", "gridY", "gridZ", "blockX",
                                "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "graphId"},
                               5);
  while (rows && rows->Next()) {
    Span span;
    if (!OpTimeOf(*rows, kStart, kEnd, span)) continue;
    GpuOpRow row{
        .name = NameOf(rows->Int(kName)), .kind = GpuOpKind::kKernel, .ts_ns = span.ts_ns, .dur_ns = span.dur_ns};
    if (row.name == StringId::kNone) row.name = NameOf(rows->Int(kShortName));
    const int64_t global = rows->Int(kProcess);
    const int32_t device = rows->Int32(kDevice);
    row.device = DeviceOf(device == kAbsent32 ? -1 : device, global);
    row.stream = rows->Int(kStream), row.context = rows->Int32(kContext);
    row.correlation = ids_.Correlation(rows->Int(kCorrelation), global);
    row.registers = rows->Int32(kRegisters);
    row.grid_x = rows->Int32(kGrid), row.grid_y = rows->Int32(kGrid + 1), row.grid_z = rows->Int32(kGrid + 2);
    row.block_x = rows->Int32(kBlock), row.block_y = rows->Int32(kBlock + 1), row.block_z = rows->Int32(kBlock + 2);
    const int64_t fixed = rows->Int32(kStaticShared), given = rows->Int32(kDynamicShared);
    if (fixed >= 0 && given >= 0 && fixed + given <= INT32_MAX) row.shared_bytes = static_cast<int32_t>(fixed + given);
    if (rows->Int(kGraph) > 0) row.graph_id = rows->Int(kGraph);
    AddKernel(row);
  }
}

// Reads copies and memsets, whose tables share all columns but the last ones.
void Importer::ReadCopies() {
  enum { kStart, kEnd, kDevice, kStream, kBytes, kProcess, kCorrelation, kContext, kOperation, kFrom, kTo, kCause };
  for (const bool copies : {true, false}) {
    auto rows = copies
                    ? database_.Select("CUPTI_ACTIVITY_KIND_MEMCPY",
                                       {"start", "end", "deviceId", "streamId", "bytes", "globalPid", "correlationId",
                                        "contextId", "copyKind", "srcKind", "dstKind", "migrationCause"},
                                       4)
                    : database_.Select("CUPTI_ACTIVITY_KIND_MEMSET",
                                       {"start", "end", "deviceId", "streamId", "bytes", "globalPid", "correlationId",
                                        "contextId", "memKind"},
                                       4);
    while (rows && rows->Next()) {
      Span span;
      if (!OpTimeOf(*rows, kStart, kEnd, span)) continue;
      const std::string name = copies ? CopyName(rows->Int(kOperation), rows->Int(kFrom), rows->Int(kTo))
                                      : StrCat("Memset (", NameIn(kMemoryKinds, rows->Int(kOperation)), ")");
      GpuOpRow row{.name = shard_.Name(name),
                   .kind = copies ? GpuOpKind::kMemcpy : GpuOpKind::kMemset,
                   .ts_ns = span.ts_ns,
                   .dur_ns = span.dur_ns};
      row.op_class = GpuOpClass::kCopy, row.matrix_unit = MatrixUnit::kNo;
      if (copies) row.copy_kind = KindOfCopy(name, rows->Int(kOperation), rows->Int(kCause));
      const int64_t global = rows->Int(kProcess);
      const int32_t device = rows->Int32(kDevice);
      row.device = DeviceOf(device == kAbsent32 ? -1 : device, global);
      row.stream = rows->Int(kStream), row.context = rows->Int32(kContext);
      row.correlation = ids_.Correlation(rows->Int(kCorrelation), global);
      row.bytes = rows->Int(kBytes);
      if (row.bytes > 0 && row.dur_ns > 0)
        row.bandwidth_gbps = static_cast<double>(row.bytes) / static_cast<double>(row.dur_ns);
      shard_.Add(row);
    }
  }
}

// With --cuda-graph-trace=graph there is one row per launch of a graph instead of its kernels.
void Importer::ReadGraphs() {
  auto rows = database_.Select(
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
      {"start", "end", "deviceId", "streamId", "globalPid", "correlationId", "contextId", "graphId"}, 4);
  while (rows && rows->Next()) {
    Span span;
    if (!OpTimeOf(*rows, 0, 1, span)) continue;
    GpuOpRow row{
        .name = Interned("CUDA graph"), .kind = GpuOpKind::kKernel, .ts_ns = span.ts_ns, .dur_ns = span.dur_ns};
    const int64_t global = rows->Int(4);
    const int32_t device = rows->Int32(2);
    row.device = DeviceOf(device == kAbsent32 ? -1 : device, global);
    row.stream = rows->Int(3), row.context = rows->Int32(6);
    row.correlation = ids_.Correlation(rows->Int(5), global);
    row.graph_id = rows->Int(7);
    AddKernel(row);
  }
}

namespace {

// What a number in syncType means, by the version of nsys ("2024.5.1.113-…") that wrote it: there are three numberings,
// and ENUM_CUPTI_SYNC_TYPE of the export does not tell them apart. A row of a known call is what the call is
// (trace/syncs.cc), so this counts for rows without one.
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

void Importer::ReadSyncs() {
  constexpr int64_t kNoNumber = 0xFFFFFFFF;  // "no stream" and "no event"
  auto rows = database_.Select(
      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
      {"start", "end", "syncType", "globalPid", "deviceId", "streamId", "eventId", "correlationId"}, 3);
  while (rows && rows->Next()) {
    Span span;
    if (!TimeOf(*rows, 0, 1, span)) continue;
    const int64_t type = rows->Int(2), global = rows->Int(3), stream = rows->Int(5), event = rows->Int(6);
    const std::optional<SyncKind> kind = SyncKindOf(type, version_);
    if (!kind) continue;
    SyncRow row{.kind = *kind, .ts_ns = span.ts_ns, .dur_ns = span.dur_ns};
    if (const int32_t device = rows->Int32(4); device != kAbsent32) row.device = DeviceOf(device, global);
    if (stream != kNoNumber) row.stream = stream;
    if (event != kNoNumber) row.event = event;
    row.correlation = ids_.Correlation(rows->Int(7), global);
    shard_.Add(row);
  }
}

}  // namespace gapless::internal::nsys
