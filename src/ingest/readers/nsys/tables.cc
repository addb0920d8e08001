// SPDX-License-Identifier: Apache-2.0
// Reads rows out of the tables of an export. Each function names the columns that it wants; the constants before it are
// their places in that list. Columns that an older version lacks are absent in every row.
#include "ingest/readers/nsys/tables.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace gapless::internal::nsys {
namespace {

// The columns of everything that a device did, in this order; the columns of one table follow.
enum WorkColumn { kStart, kEnd, kDevice, kStream, kProcess, kCorrelation, kContext, kExtra };
constexpr size_t kRequiredOfWork = 4;

std::vector<std::string_view> WorkAnd(std::initializer_list<std::string_view> own) {
  std::vector<std::string_view> columns = {"start",     "end",           "deviceId", "streamId",
                                           "globalPid", "correlationId", "contextId"};
  columns.insert(columns.end(), own);
  return columns;
}

Work WorkOf(const Rows& rows) {
  return {.start = rows.Int(kStart),
          .end = rows.Int(kEnd),
          .device = rows.Int32(kDevice),
          .context = rows.Int32(kContext),
          .stream = rows.Int(kStream),
          .global_pid = rows.Int(kProcess),
          .correlation = rows.Int(kCorrelation)};
}

// Tables that are known, but whose rows are not read.
constexpr std::string_view kLeftOut[] = {"GENERIC_EVENTS", "MPI_COLLECTIVES_EVENTS", "NET_NIC_METRIC", "CUDNN_EVENTS",
                                         "CUBLAS_EVENTS"};

}  // namespace

void ReadCalls(Database& database, Meaning& meaning) {
  auto rows = database.Select("CUPTI_ACTIVITY_KIND_RUNTIME",
                              {"start", "end", "nameId", "globalTid", "correlationId", "eventClass"}, 3);
  while (rows && rows->Next())
    meaning.Add(Call{.start = rows->Int(0),
                     .end = rows->Int(1),
                     .global_tid = rows->Int(3),
                     .correlation = rows->Int(4),
                     .name = rows->Int(2),
                     .event_class = rows->Int(5)});
}

void ReadRanges(Database& database, Meaning& meaning) {
  auto rows = database.Select("NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "text", "textId"}, 3);
  while (rows && rows->Next())
    meaning.Add(Range{.start = rows->Int(0),
                      .end = rows->Int(1),
                      .global_tid = rows->Int(3),
                      .type = rows->Int(2),
                      .text = rows->Text(4),
                      .text_id = rows->Int(5)});
}

void ReadOverhead(Database& database, Meaning& meaning) {
  auto rows = database.Select("PROFILER_OVERHEAD", {"start", "end", "nameId", "globalTid"}, 3);
  while (rows && rows->Next())
    meaning.Add(Overhead{.start = rows->Int(0), .end = rows->Int(1), .global_tid = rows->Int(3), .name = rows->Int(2)});
}

void ReadKernels(Database& database, Meaning& meaning) {
  enum { kShortName = kExtra, kName, kRegisters, kGrid, kBlock = kGrid + 3, kStatic = kBlock + 3, kDynamic, kGraph };
  auto rows =
      database.Select("CUPTI_ACTIVITY_KIND_KERNEL",
                      WorkAnd({"shortName", "demangledName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX",
                               "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "graphId"}),
                      kRequiredOfWork);
  while (rows && rows->Next()) {
    Kernel kernel{.work = WorkOf(*rows), .name = rows->Int(kName), .short_name = rows->Int(kShortName)};
    kernel.registers = rows->Int32(kRegisters);
    for (int axis = 0; axis < 3; ++axis)
      kernel.grid[axis] = rows->Int32(kGrid + axis), kernel.block[axis] = rows->Int32(kBlock + axis);
    kernel.static_shared = rows->Int32(kStatic), kernel.dynamic_shared = rows->Int32(kDynamic);
    kernel.graph = rows->Int(kGraph);
    meaning.Add(kernel);
  }
}

void ReadCopies(Database& database, Meaning& meaning) {
  enum { kBytes = kExtra, kOperation, kFrom, kTo, kCause };
  auto copies =
      database.Select("CUPTI_ACTIVITY_KIND_MEMCPY",
                      WorkAnd({"bytes", "copyKind", "srcKind", "dstKind", "migrationCause"}), kRequiredOfWork);
  while (copies && copies->Next())
    meaning.Add(Copy{.work = WorkOf(*copies),
                     .bytes = copies->Int(kBytes),
                     .operation = copies->Int(kOperation),
                     .from = copies->Int(kFrom),
                     .to = copies->Int(kTo),
                     .cause = copies->Int(kCause)});
  auto memsets = database.Select("CUPTI_ACTIVITY_KIND_MEMSET", WorkAnd({"bytes", "memKind"}), kRequiredOfWork);
  while (memsets && memsets->Next())
    meaning.Add(Memset{.work = WorkOf(*memsets), .bytes = memsets->Int(kBytes), .memory = memsets->Int(kOperation)});
}

void ReadGraphs(Database& database, Meaning& meaning) {
  auto rows = database.Select("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", WorkAnd({"graphId"}), kRequiredOfWork);
  while (rows && rows->Next()) meaning.Add(Graph{.work = WorkOf(*rows), .graph = rows->Int(kExtra)});
}

// A synchronisation of a whole device has no stream in some versions, so only its times and its kind are required.
void ReadSyncs(Database& database, Meaning& meaning) {
  auto rows =
      database.Select("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                      {"start", "end", "syncType", "globalPid", "deviceId", "streamId", "eventId", "correlationId"}, 3);
  while (rows && rows->Next()) {
    Sync sync{.type = rows->Int(2), .event = rows->Int(6)};
    sync.work = {.start = rows->Int(0), .end = rows->Int(1), .device = rows->Int32(4), .stream = rows->Int(5)};
    sync.work.global_pid = rows->Int(3), sync.work.correlation = rows->Int(7);
    meaning.Add(sync);
  }
}

// The lowest byte of a type's number is the number of the GPU.
void ReadMetrics(Database& database, Meaning& meaning) {
  std::map<std::pair<int64_t, int64_t>, std::string> names;
  if (auto rows = database.Select("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, 3))
    while (rows->Next()) names.emplace(std::pair(rows->Int(0), rows->Int(1)), rows->Text(2));
  auto rows = database.Select("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, 4);
  while (rows && rows->Next()) {
    const auto name = names.find({rows->Int(1), rows->Int(2)});
    if (name == names.end()) continue;
    meaning.Add(Metric{.time = rows->Int(0),
                       .name = name->second,
                       .device = static_cast<int32_t>(rows->Int(1) & 0xFF),
                       .value = rows->Real(3)});
  }
}

void ReadAllocations(Database& database, Meaning& meaning) {
  auto rows =
      database.Select("CUDA_GPU_MEMORY_USAGE_EVENTS",
                      {"start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"}, 7);
  while (rows && rows->Next())
    meaning.Add(Allocation{.time = rows->Int(0),
                           .global_pid = rows->Int(1),
                           .address = rows->Int(3),
                           .bytes = rows->Int(4),
                           .device = rows->Int32(2),
                           .memory = rows->Int(5),
                           .operation = rows->Int(6)});
}

void ReadDiagnostics(Database& database, Meaning& meaning) {
  auto rows = database.Select("DIAGNOSTIC_EVENT", {"severity", "text"}, 2);
  while (rows && rows->Next()) meaning.Add(Diagnostic{.severity = rows->Int(0), .text = rows->Text(1)});
}

// A stack is several rows of a table of its own, one for each frame; they need not stand together.
void ReadCpuSamples(Database& database, Meaning& meaning) {
  struct Frame {
    int64_t sample = 0, depth = 0;
    CpuFrame frame{};
    auto operator<=>(const Frame& other) const {
      return std::pair(sample, depth) <=> std::pair(other.sample, other.depth);
    }
    bool operator==(const Frame& other) const { return sample == other.sample && depth == other.depth; }
  };
  std::vector<Frame> frames;
  if (auto rows = database.Select("SAMPLING_CALLCHAINS", {"id", "stackDepth", "symbol", "module"}, 3))
    while (rows->Next()) frames.push_back({rows->Int(0), rows->Int(1), {rows->Int(2), rows->Int(3)}});
  if (!std::ranges::is_sorted(frames)) std::ranges::stable_sort(frames);
  auto samples = database.Select("COMPOSITE_EVENTS", {"id", "start", "globalTid"}, 2);
  while (samples && samples->Next()) {
    CpuSample sample{.time = samples->Int(1), .global_tid = samples->Int(2)};
    const auto first = std::ranges::lower_bound(frames, samples->Int(0), {}, &Frame::sample);
    for (auto at = first; at != frames.end() && at->sample == samples->Int(0); ++at) sample.stack.push_back(at->frame);
    meaning.Add(std::move(sample));
  }
}

void ReadOsCalls(Database& database, Meaning& meaning) {
  auto rows = database.Select("OSRT_API", {"start", "end", "nameId", "globalTid"}, 3);
  while (rows && rows->Next())
    meaning.Add(OsCall{.start = rows->Int(0), .end = rows->Int(1), .global_tid = rows->Int(3), .name = rows->Int(2)});
}

void ReadSwitches(Database& database, Meaning& meaning) {
  auto rows = database.Select("SCHED_EVENTS", {"start", "isSchedIn", "globalTid", "cpu"}, 3);
  while (rows && rows->Next())
    meaning.Add(
        Switch{.time = rows->Int(0), .global_tid = rows->Int(2), .cpu = rows->Int32(3), .in = rows->Int(1) != 0});
}

// Addresses are not looked at. A fault of the host has no end and no count.
void ReadPageFaults(Database& database, Meaning& meaning) {
  auto host = database.Select("CUDA_UM_CPU_PAGE_FAULT_EVENTS", {"start", "globalPid", "CpuInstruction"}, 1);
  while (host && host->Next())
    meaning.Add(PageFault{.start = host->Int(0), .global_pid = host->Int(1), .function = host->Int(2)});
  auto device = database.Select("CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                                {"start", "end", "deviceId", "globalPid", "numberOfPageFaults"}, 3);
  while (device && device->Next())
    meaning.Add(PageFault{.start = device->Int(0),
                          .end = device->Int(1),
                          .global_pid = device->Int(3),
                          .device = device->Int32(2),
                          .count = device->Int(4)});
}

void CountLeftOut(Database& database, Meaning& meaning) {
  for (const std::string_view table : kLeftOut) meaning.LeaveOut(table, database.CountRows(table));
}

}  // namespace gapless::internal::nsys
