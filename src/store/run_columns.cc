// SPDX-License-Identifier: Apache-2.0
// One list of columns serves writing and reading.
#include "store/run_columns.h"

#include <string_view>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// A RunColumn has exactly one member that is not null.
struct RunColumn {
  std::string_view name;
  std::string BenchmarkRecord::*text = nullptr;
  std::optional<int64_t> BenchmarkRecord::*number = nullptr;
  std::optional<bool> BenchmarkRecord::*flag = nullptr;
};
constexpr RunColumn kRunColumns[] = {
    {.name = "uid", .text = &BenchmarkRecord::uid},
    {.name = "recorded_at_ns", .number = &BenchmarkRecord::recorded_unix_ns},
    {.name = "commit_sha", .text = &BenchmarkRecord::commit_sha},
    {.name = "branch", .text = &BenchmarkRecord::branch},
    {.name = "dirty", .flag = &BenchmarkRecord::dirty},
    {.name = "author_time_ns", .number = &BenchmarkRecord::author_unix_ns},
    {.name = "benchmark", .text = &BenchmarkRecord::benchmark},
    {.name = "command", .text = &BenchmarkRecord::command},
    {.name = "host", .text = &BenchmarkRecord::host},
    {.name = "fingerprint", .text = &BenchmarkRecord::fingerprint},
    {.name = "gpu_type", .text = &BenchmarkRecord::gpu_type},
    {.name = "num_gpus", .number = &BenchmarkRecord::num_gpus},
    {.name = "batch_size", .number = &BenchmarkRecord::batch_size},
    {.name = "framework", .text = &BenchmarkRecord::framework},
    {.name = "driver", .text = &BenchmarkRecord::driver},
    {.name = "environment", .text = &BenchmarkRecord::environment},
    {.name = "source", .text = &BenchmarkRecord::source},
};

}  // namespace

const std::string& RunColumns() {
  static const std::string kNames = [] {
    std::string names;
    for (const RunColumn& column : kRunColumns) names += StrCat(names.empty() ? "" : ", ", column.name);
    return names;
  }();
  return kNames;
}

std::vector<SqlCell> CellsOf(const BenchmarkRecord& record) {
  std::vector<SqlCell> cells;
  for (const RunColumn& column : kRunColumns) {
    if (column.text != nullptr) cells.push_back(TextOrNull(record.*column.text));
    if (column.number != nullptr)
      cells.push_back(record.*column.number ? SqlCell(*(record.*column.number)) : SqlCell());
    if (column.flag != nullptr) cells.push_back(FlagOrNull(record.*column.flag));
  }
  return cells;
}

BenchmarkRecord RunFrom(const DbRow& row) {
  BenchmarkRecord record;
  record.id = row.Int(0).value_or(0);
  size_t at = 1;
  for (const RunColumn& column : kRunColumns) {
    if (column.text != nullptr) record.*column.text = row.Text(at);
    if (column.number != nullptr) record.*column.number = row.Int(at);
    if (column.flag != nullptr) record.*column.flag = row.Flag(at);
    ++at;
  }
  return record;
}

}  // namespace gapless::internal
