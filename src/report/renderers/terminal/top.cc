// SPDX-License-Identifier: Apache-2.0
// The section with the longest kernels or operators: the first rows of the analyses' tables, by time. It is left out
// without -v when there are more than two findings, which then fill the screen.
#include <algorithm>
#include <functional>

#include "analyses/rows/kernels.h"
#include "analyses/rows/operators.h"
#include "base/strings.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

// Numbers of findings and of rows.
constexpr size_t kEnough = 2;  // with more bottlenecks than these the screen is full
constexpr size_t kKernels = 3, kOperators = 10, kVerboseRows = 20;
constexpr int kNumbers = 28;  // columns right of the name

// Returns a kernel's name without its return type and parameters: "void f<int>(float*, long)" is "f<int>". Parentheses
// inside template arguments, and those of "(anonymous namespace)", belong to the name.
std::string_view ShortName(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    const bool anonymous = name.substr(i).starts_with("(anonymous namespace)");
    if (name[i] == '(' && depth <= 0 && i > 0 && !anonymous) return name.substr(0, i);
  }
  return name;
}

std::string Line(std::string_view name, std::string_view share, std::string_view time, std::string_view calls,
                 const Paint& paint) {
  const int room = paint.width() - 2 - kNumbers;
  return StrCat("  ", PadRight(Ellipsize(Printable(name), room), room), PadLeft(share, 8), PadLeft(time, 11),
                PadLeft(calls, 9), "\n");
}

// The rows with the most `by`, one per name: on several ranks, that of the rank where it takes most.
template <class Rows>
std::vector<size_t> Largest(const Rows& table, typename Rows::IntColumn by, size_t count) {
  std::vector<size_t> rows(table.rows());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  std::ranges::stable_sort(rows, std::greater<>(), [&](size_t row) { return table.Int(row, by); });
  std::vector<size_t> chosen;
  for (const size_t row : rows) {
    if (chosen.size() == count) break;
    const bool seen =
        std::ranges::any_of(chosen, [&](size_t other) { return table.Text(other, "name") == table.Text(row, "name"); });
    if (!seen) chosen.push_back(row);
  }
  return chosen;
}

std::string ShareText(const KernelsRows& kernels, size_t row) {
  return kernels.IsNull(row, "share") ? std::string() : FormatPercent(kernels.Real(row, "share"));
}

std::string ShareText(const OperatorsRows&, size_t) { return {}; }

template <class Rows>
std::string Lines(const Rows& table, typename Rows::IntColumn by, size_t count, const Paint& paint) {
  std::string lines;
  for (const size_t row : Largest(table, by, count))
    lines += Line(ShortName(table.Text(row, "name")), ShareText(table, row), FormatDuration(table.Int(row, by)),
                  FormatCount(table.Int(row, "calls")), paint);
  return lines;
}

}  // namespace

std::string TopSection(const Report& report, const Paint& paint) {
  const bool gpu = report.summary.total.wall_ns > 0;
  if (!paint.verbose() && report.diagnosis.bottlenecks.size() > kEnough) return {};
  const size_t count = paint.verbose() ? kVerboseRows : gpu ? kKernels : kOperators;
  const std::string lines = gpu ? Lines(report.tables.Get<KernelsRows>(), "total_ns", count, paint)
                                : Lines(report.tables.Get<OperatorsRows>(), "host_self_ns", count, paint);
  if (lines.empty()) return {};
  const std::string_view title = gpu ? "kernels that take the most time" : "operators that take the most host time";
  std::string out = paint.In(Tone::kBold, PadRight(title, paint.width() - kNumbers));
  out += paint.In(Tone::kDim, PadLeft(gpu ? "share" : "", 8) + PadLeft("total", 11) + PadLeft("calls", 9)) + "\n";
  return out + lines;
}

}  // namespace gapless::internal
