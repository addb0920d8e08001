// SPDX-License-Identifier: Apache-2.0
// Reads the facts of an export around the events: versions, host, processes, threads, GPUs. All texts of the
// export are loaded first, since every other table refers to them by number.
#include "base/strings.h"
#include "ingest/readers/nsys/tables.h"
#include "trace/lost_work.h"

namespace gapless::internal::nsys {
namespace {

// Tables that are known, but whose rows are not read.
constexpr std::string_view kLeftOut[] = {"OSRT_API",
                                         "SCHED_EVENTS",
                                         "COMPOSITE_EVENTS",
                                         "GPU_METRICS",
                                         "GENERIC_EVENTS",
                                         "MPI_COLLECTIVES_EVENTS",
                                         "NET_NIC_METRIC",
                                         "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                         "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                                         "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                                         "CUDNN_EVENTS",
                                         "CUBLAS_EVENTS"};

}  // namespace

void Importer::ReadAbout() {
  if (auto rows = database_.Select("StringIds", {"id", "value"}, 2))
    while (rows->Next()) strings_.emplace(rows->Int(0), std::string(rows->Text(1)));
  for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"})
    if (auto rows = database_.Select(table, {"name", "value"}, 2))
      while (rows->Next()) {
        if (rows->Text(0) == "EXPORT_PRODUCT_VERSION")
          version_ = rows->Text(1), builder_.AddEnvironment("nsys.version", version_);
        if (rows->Text(0) == "EXPORT_SCHEMA_VERSION") builder_.AddEnvironment("nsys.schema", rows->Text(1));
      }
  if (auto rows = database_.Select("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, 1))
    while (rows->Next()) session_start_unix_ns_ = rows->Int(0);
  if (auto rows = database_.Select("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, 2))
    while (rows->Next())
      if (rows->Text(0) == "Hostname") builder_.info().host = rows->Text(1);
  if (auto rows = database_.Select("PROCESSES", {"pid", "name"}, 2))
    while (rows->Next())
      if (rows->Int(0) >= 0) builder_.NameProcess(rows->Int(0), rows->Text(1));
  if (auto rows = database_.Select("ThreadNames", {"globalTid", "nameId"}, 2))
    while (rows->Next()) {
      const auto name = strings_.find(rows->Int(1));
      const int64_t global = rows->Int(0);
      if (name != strings_.end() && global != kAbsent)
        builder_.NameThread(Ids::Pid(global), Ids::Tid(global), name->second);
    }
  std::set<int64_t> ranks;
  if (auto rows = database_.Select("MPI_RANKS", {"rank"}, 1))
    while (rows->Next()) ranks.insert(rows->Int(0));
  // A recording of several ranks has no rank of its own.
  if (ranks.size() == 1 && *ranks.begin() >= 0) builder_.info().rank = *ranks.begin();
  ReadDevices();
}

// Reads the GPUs of the host, and which of them each process calls by which number (CUDA_VISIBLE_DEVICES changes
// it).
void Importer::ReadDevices() {
  if (auto rows = database_.Select("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, 3))
    while (rows->Next()) gpu_of_[{rows->Int(0), rows->Int(1)}] = rows->Int32(2);
  auto rows = database_.Select("TARGET_INFO_GPU",
                               {"id", "name", "busLocation", "uuid", "totalMemory", "clockRate", "smCount",
                                "computeMajor", "computeMinor", "maxWarpsPerSm", "threadsPerWarp"},
                               2);
  while (rows && rows->Next()) {
    if (rows->Int32(0) == kAbsent32) continue;
    DeviceRow device{.device = rows->Int32(0), .vendor = Vendor::kNvidia, .name = std::string(rows->Text(1))};
    device.pcie_bus_id = rows->Text(2), device.uuid = rows->Text(3);
    device.memory_bytes = rows->Int(4);
    if (const int64_t hz = rows->Int(5); hz > 0) device.clock_khz = hz / 1000;
    device.sm_count = rows->Int32(6);
    device.compute_major = rows->Int32(7), device.compute_minor = rows->Int32(8);
    const int64_t warps = rows->Int(9), lanes = rows->Int(10);
    if (warps > 0 && warps <= 1024 && lanes > 0 && lanes <= 1024)
      device.max_threads_per_sm = static_cast<int32_t>(warps * lanes);
    builder_.AddDevice(std::move(device));
  }
}

// CUDA counts the GPUs that a process sees from 0; the export may say which GPU of the host that is.
int32_t Importer::DeviceOf(int32_t device, int64_t global) const {
  if (global == kAbsent) return device;
  const auto known = gpu_of_.find({Ids::Pid(global), device});
  return known == gpu_of_.end() ? device : known->second;
}

// Reports what was left out, with counts of rows: tables that are known but not read would otherwise look absent.
void Importer::Finish() {
  builder_.info().event_count = events_;
  builder_.Count("bad_times", Severity::kLoss, bad_times_, kAbsent,
                 "rows without a usable time, or that last over a day, were left out");
  builder_.Count(kOpsWithoutTime, Severity::kLoss, ops_without_time_, kAbsent, kOpsWithoutTimeText);
  builder_.Count("nested_calls", Severity::kInfo, nested_calls_, kAbsent,
                 "calls that were recorded twice, one inside the other, are kept once");
  builder_.Count("open_ranges", Severity::kInfo, open_ranges_, kAbsent, "NVTX ranges that never ended were left out");
  builder_.Count("other_nvtx", Severity::kInfo, other_nvtx_, kAbsent,
                 "NVTX categories, domains and marks are not part of the tables");
  builder_.Count("processes", Severity::kInfo, ids_.processes() > 1 ? static_cast<int64_t>(ids_.processes()) : 0,
                 kAbsent, "processes are in this one recording; their correlation ids were made distinct");
  std::string left_out;
  int64_t rows_left_out = 0;
  for (const std::string_view table : kLeftOut)
    if (const int64_t rows = database_.CountRows(table); rows > 0) {
      left_out += StrCat(left_out.empty() ? "" : ", ", table);
      rows_left_out += rows;
    }
  builder_.Count("tables_left_out", Severity::kInfo, rows_left_out, kAbsent,
                 StrCat("rows of tables that are not read: ", left_out));
  if (!database_.damage().empty())
    builder_.Count("damaged_input", Severity::kError, 1, kAbsent,
                   StrCat("reading of a table stopped: ", database_.damage()));
}

}  // namespace gapless::internal::nsys
