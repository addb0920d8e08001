// SPDX-License-Identifier: Apache-2.0
// The yardstick for reading exports of Nsight Systems: every column of calls and kernels that the reader uses, taken
// out of SQLite one row after the other and added up. It keeps, links and checks nothing.
//
//   nsys_walk FILE
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>

namespace {

constexpr const char* kQueries[] = {
    "SELECT start, \"end\", nameId, globalTid, correlationId, eventClass FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, \"end\", deviceId, streamId, globalPid, correlationId, contextId, shortName, demangledName,"
    " registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory"
    " FROM CUPTI_ACTIVITY_KIND_KERNEL"};

}  // namespace

int main(int argc, char** argv) {
  sqlite3* database = nullptr;
  if (argc != 2 ||
      sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK)
    return std::fprintf(stderr, "usage: nsys_walk FILE\n"), 2;
  int64_t rows = 0;
  uint64_t sum = 0;
  for (const char* query : kQueries) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, query, -1, &statement, nullptr) != SQLITE_OK)
      return std::fprintf(stderr, "%s\n", sqlite3_errmsg(database)), 3;
    const int columns = sqlite3_column_count(statement);
    for (; sqlite3_step(statement) == SQLITE_ROW; ++rows)
      for (int i = 0; i < columns; ++i) sum += static_cast<uint64_t>(sqlite3_column_int64(statement, i));
    sqlite3_finalize(statement);
  }
  std::printf("%lld rows, sum %llu\n", static_cast<long long>(rows), static_cast<unsigned long long>(sum));
  sqlite3_close(database);
  return 0;
}
