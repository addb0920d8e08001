// SPDX-License-Identifier: Apache-2.0
// What takes the time, from the tables of analyses: a few rows, in their order.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "report/renderers/terminal/sections.h"

namespace gapless {
namespace {

constexpr size_t kKernels = 3, kOperators = 10, kVerboseRows = 20;
constexpr int kNumbers = 30;  // columns right of the name

std::string Row(std::string_view name, double share, int64_t ns, int64_t calls, const Paint& paint) {
  const int room = paint.width() - 2 - kNumbers;
  return StrCat("  ", PadRight(Ellipsize(Printable(name), room), room), std::isnan(share) ? PadLeft("", 8) : PadLeft(FormatPercent(share), 8),
                PadLeft(FormatDuration(ns), 10), PadLeft(FormatCount(calls), 10), "×\n");
}

// The rows of `table` with the most `by`, summed over traces and devices by name would be computing: rows as they are.
std::vector<size_t> Largest(const Table& table, int by, size_t count) {
  std::vector<size_t> rows(table.rows());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  count = std::min(count, rows.size());
  std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(count), [&](size_t a, size_t b) {
    const int64_t left = table.Int(a, by), right = table.Int(b, by);
    return left != right ? left > right : a < b;
  });
  rows.resize(count);
  return rows;
}

}  // namespace

std::string TopSection(const Report& report, const Paint& paint) {
  const bool gpu = report.summary.total.wall_ns > 0;
  const Table& table = report.tables.Get(gpu ? "kernels" : "operators");
  const int name = table.Find("name"), by = table.Find(gpu ? "total_ns" : "host_self_ns"), calls = table.Find("calls");
  const int share = table.Find("share");
  if (table.rows() == 0 || name < 0 || by < 0 || calls < 0) return {};
  const size_t count = paint.verbose() ? kVerboseRows : gpu ? kKernels : kOperators;
  std::string out = paint.In(Tone::kBold, gpu ? "kernels that take the most time" : "operators that take the most host time") + "\n";
  for (const size_t row : Largest(table, by, count)) {
    const double part = gpu && share >= 0 ? table.Real(row, share) : std::nan("");
    out += Row(table.Text(row, name), part, table.Int(row, by), table.Int(row, calls), paint);
  }
  return out;
}

}  // namespace gapless
