// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/nsys_stats/summary.h"

#include <cmath>

#include "base/strings.h"
#include "ingest/readers/nsys_stats/names.h"

namespace gapless::internal::nsys_stats {
namespace {

std::string_view CellOf(const std::vector<std::string>& row, int place) {
  return place < 0 ? std::string_view() : std::string_view(row[static_cast<size_t>(place)]);
}

}  // namespace

void Summary::AddDeviceRow(std::string_view name, int64_t calls, double ns) {
  const auto add = [&](std::string_view metric, double value, std::string_view unit) {
    builder_.AddKernelMetric(
        {.kernel_name = name, .launch_index = device_rows_, .metric = metric, .value = value, .unit = unit});
  };
  add("summary.calls", static_cast<double>(calls), "");
  add("summary.total", ns, "ns");
  add("duration", ns / static_cast<double>(calls), "ns");
  ++device_rows_;
}

void Summary::AddRow(const Table& table, const std::vector<std::string>& row) {
  const int total = table.PlaceOf({"totaltime"});
  const double unit = NsIn(table.units[static_cast<size_t>(total)]);
  const double ns = NumberIn(CellOf(row, total)) * (unit > 0 ? unit : 1);
  const double calls = NumberIn(CellOf(row, table.PlaceOf({"instances", "numcalls", "calls", "operations", "count"})));
  const std::string_view name = CellOf(row, table.PlaceOf({"name", "operation"}));
  const bool usable = ns >= 0 && ns < 1e18 && calls >= 1 && calls < 1e15 && !name.empty();
  if (!usable) return void(++bad_rows_);
  ++rows_;
  if (table.form == Form::kCalls)
    return builder_.AddHostFunction(
        {.file = "", .function = WithoutVersion(name), .calls = std::llround(calls), .total_ns = std::llround(ns)});
  AddDeviceRow(IsMemoryName(name) ? MemoryName(name) : std::string(name), std::llround(calls), ns);
}

void Summary::Add(const Table& table) {
  const bool kernels = table.form == Form::kKernels || table.form == Form::kDevice;
  const bool copies = table.form == Form::kCopies || table.form == Form::kDevice;
  const bool calls = table.form == Form::kCalls;
  if (!kernels && !copies && !calls) return;
  if ((kernels && has_kernels_) || (copies && has_copies_) || (calls && has_calls_)) return void(++others_);
  if (table.rows.empty()) return;
  has_kernels_ = has_kernels_ || kernels, has_copies_ = has_copies_ || copies, has_calls_ = has_calls_ || calls;
  bad_rows_ += table.bad_rows;
  for (const auto& row : table.rows) AddRow(table, row);
}

}  // namespace gapless::internal::nsys_stats
