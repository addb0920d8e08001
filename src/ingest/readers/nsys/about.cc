// SPDX-License-Identifier: Apache-2.0
// Reads the facts of an export around the events: versions, host, processes, threads, GPUs. All texts of the
// export are held while it is read, since every other table refers to them by number.
#include <map>
#include <set>

#include "base/strings.h"
#include "ingest/readers/nsys/devices.h"
#include "ingest/readers/nsys/tables.h"

namespace gapless::internal::nsys {
namespace {

// Reads the GPUs of the host. Those of a process are told by CUDA's number of them: before 2025 one number each, for
// one process; GPUs that it does not see say 0, too, and then nobody knows.
void ReadGpus(Database& database, Gpus& gpus, Facts& facts) {
  auto rows =
      database.Select("TARGET_INFO_GPU",
                      {"name", "id", "busLocation", "uuid", "totalMemory", "clockRate", "smCount", "computeMajor",
                       "computeMinor", "maxWarpsPerSm", "threadsPerWarp", "cuDevice", "deviceId"},
                      1);
  std::map<int64_t, std::set<int32_t>> gpus_of_cuda;
  while (rows && rows->Next()) {
    Gpu gpu{.id = rows->Int32(1)};
    if (gpu.id == kAbsent32) gpu.id = rows->Int32(12);  // its name until 2020
    gpu.name = rows->Text(0), gpu.bus = rows->Text(2), gpu.uuid = rows->Text(3);
    gpu.memory_bytes = rows->Int(4);
    if (rows->Int(5) > 0) gpu.clock_khz = rows->Int(5) / 1000;
    gpu.sm_count = rows->Int32(6), gpu.compute_major = rows->Int32(7), gpu.compute_minor = rows->Int32(8);
    gpu.warps_per_sm = rows->Int(9), gpu.lanes_per_warp = rows->Int(10);
    if (rows->Int(11) >= 0 && gpu.id != kAbsent32) gpus_of_cuda[rows->Int(11)].insert(gpu.id);
    gpus.Add(std::move(gpu));
  }
  if (database.Holds("TARGET_INFO_CUDA_DEVICE")) return;
  for (const auto& [cuda, ids] : gpus_of_cuda)
    if (ids.size() == 1) facts.gpu_of_any[cuda] = *ids.begin();
}

// Reads what CUDA says of GPUs in a process: since 2025 which of them they are, until 2020 all there is to say.
void ReadGpusOfCuda(Database& database, Gpus& gpus, Facts& facts) {
  if (auto rows = database.Select("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, 3))
    while (rows->Next()) facts.gpu_of[{rows->Int(0), rows->Int(1)}] = rows->Int32(2);
  auto rows = database.Select(
      "TARGET_INFO_CUDA_GPU",
      {"deviceId", "name", "pciBusId", "globalMemorySize", "coreClockRate", "numMultiprocessors",
       "computeCapabilityMajor", "computeCapabilityMinor", "maxWarpsPerMultiprocessor", "numThreadsPerWarp", "pid"},
      2);
  while (rows && rows->Next()) {
    Gpu gpu{.id = rows->Int32(0)};
    gpu.name = rows->Text(1), gpu.bus = rows->Text(2);
    gpu.memory_bytes = rows->Int(3), gpu.clock_khz = rows->Int(4);
    gpu.sm_count = rows->Int32(5), gpu.compute_major = rows->Int32(6), gpu.compute_minor = rows->Int32(7);
    gpu.warps_per_sm = rows->Int(8), gpu.lanes_per_warp = rows->Int(9);
    gpus.AddOfCuda(gpu, rows->Int(10), facts);
  }
}

void ReadNames(Database& database, TraceBuilder& builder, const Facts& facts) {
  if (auto rows = database.Select("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, 2))
    while (rows->Next())
      if (rows->Text(0) == "Hostname") builder.info().host = rows->Text(1);
  if (auto rows = database.Select("PROCESSES", {"pid", "name"}, 2))
    while (rows->Next())
      if (rows->Int(0) >= 0) builder.NameProcess(rows->Int(0), rows->Text(1));
  if (auto rows = database.Select("ThreadNames", {"globalTid", "nameId"}, 2))
    while (rows->Next()) {
      const std::string_view* name = facts.texts.Find(rows->Int(1));
      const int64_t global = rows->Int(0);
      if (name != nullptr && global != kAbsent) builder.NameThread(PidOf(global), TidOf(global), *name);
    }
  std::set<int64_t> ranks;
  if (auto rows = database.Select("MPI_RANKS", {"rank"}, 1))
    while (rows->Next()) ranks.insert(rows->Int(0));
  // A recording of several ranks has no rank of its own.
  if (ranks.size() == 1 && *ranks.begin() >= 0) builder.info().rank = *ranks.begin();
}

}  // namespace

void ReadAbout(Database& database, TraceBuilder& builder, About& about) {
  Facts& facts = about.facts;
  if (auto rows = database.Select("StringIds", {"id", "value"}, 2))
    while (rows->Next()) facts.texts.Copy(rows->Int(0), rows->Text(1));
  for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"})
    if (auto rows = database.Select(table, {"name", "value"}, 2))
      while (rows->Next()) {
        if (rows->Text(0) == "EXPORT_PRODUCT_VERSION")
          facts.version = rows->Text(1), builder.AddEnvironment("nsys.version", facts.version);
        if (rows->Text(0) == "EXPORT_SCHEMA_VERSION") builder.AddEnvironment("nsys.schema", rows->Text(1));
      }
  if (auto rows = database.Select("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, 1))
    while (rows->Next()) about.session_start_unix_ns = rows->Int(0);
  // Contexts are listed since 2022, before that their streams.
  for (const char* table : {"TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_NULL_STREAM", "TARGET_INFO_CUDA_STREAM"})
    if (auto rows = database.Select(table, {"processId", "vmId", "hwId"}, 3))
      while (rows->Next()) facts.correlations.Know(ProcessNumber(rows->Int(0), rows->Int(1), rows->Int(2)));
  ReadNames(database, builder, facts);
  Gpus gpus;
  ReadGpus(database, gpus, facts);
  ReadGpusOfCuda(database, gpus, facts);
  gpus.Give(builder);
}

}  // namespace gapless::internal::nsys
