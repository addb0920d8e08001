// SPDX-License-Identifier: Apache-2.0
// Kinds of copies and page faults, from the sample with statements run on a copy of it.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <map>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

Trace Changed(const char* statements) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "nsys_changed.sqlite";
  std::filesystem::copy_file("tests/data/nsys_two_processes.sqlite", path,
                             std::filesystem::copy_options::overwrite_existing);
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statements, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
  auto source = OpenFile(path.string());
  if (!source) return {};
  ThreadPool pool(1);
  auto trace = ReadTrace(**source, {.pool = pool});
  EXPECT_TRUE(trace) << trace.error().message;
  return trace ? std::move(*trace) : Trace();
}

TEST(NsysCopies, PagesThatMoveOnDemandAreToldFromPrefetchedOnes) {
  const Trace trace = Changed(
      "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD COLUMN migrationCause INTEGER;"
      "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 11, migrationCause = 1 WHERE globalPid = 281476654432256;"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT start, end, deviceId, contextId, streamId, 0, globalPid, bytes,"
      " 11, srcKind, dstKind, 2 FROM CUPTI_ACTIVITY_KIND_MEMCPY LIMIT 1;"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT start, end, deviceId, contextId, streamId, 0, globalPid, bytes,"
      " 12, srcKind, dstKind, 3 FROM CUPTI_ACTIVITY_KIND_MEMCPY LIMIT 1;");
  std::map<CopyKind, int> found;
  for (size_t row = 0; row < trace.gpu_ops.size(); ++row) ++found[trace.gpu_ops.copy_kind[row]];
  EXPECT_EQ(found[CopyKind::kHtoDManaged], 1);
  EXPECT_EQ(found[CopyKind::kDtoHManaged], 1);
  EXPECT_EQ(found[CopyKind::kHtoDPageable], 2) << "one asked for as a prefetch, and a plain copy";
}

TEST(NsysPageFaults, OfTheHostAndOfDevices) {
  const Trace trace = Changed(
      "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER, address INTEGER,"
      " originalFaultPc INTEGER, CpuInstruction INTEGER, module INTEGER, unresolvedFaultPc INTEGER);"
      "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (20000000, 281476654432256, 4096, 0, 10, 0, 0);"
      "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER,"
      " address INTEGER, numberOfPageFaults INTEGER, faultAccessType INTEGER);"
      "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (21000000, 21500000, 281478332153856, 0, 4096, 12, 1);");
  const PageFaultTable& faults = trace.page_faults;
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults.device[0], kAbsent32);
  EXPECT_EQ(faults.pid[0], 100);
  EXPECT_EQ(faults.count[0], kAbsent);
  EXPECT_EQ(faults.dur_ns[0], kAbsent) << "a fault of the host has a moment only";
  EXPECT_EQ(trace.Text(faults.function[0]), "main thread");
  EXPECT_EQ(faults.device[1], 1) << "the GPU of the machine, not the process's device 0";
  EXPECT_EQ(faults.pid[1], 200);
  EXPECT_EQ(faults.count[1], 12);
  EXPECT_EQ(faults.dur_ns[1], 500'000);
  EXPECT_EQ(faults.function[1], StringId::kNone);
}

}  // namespace
}  // namespace gapless::internal
