// SPDX-License-Identifier: Apache-2.0
// Lines of Python code by the time they take, or by the memory that was allocated there and is alive at the end, as
// `gapless profile --python=lines` and `--python=memory` record them, and line_profiler, Scalene, memory_profiler and
// memray.
#include "analyses/rows/python_lines.h"

#include <algorithm>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/user_code.h"

namespace gapless::internal::python_lines_analysis {
namespace {

constexpr size_t kMaxRows = 200;  // rows per trace

bool IsOfMemory(std::string_view kind) {
  return kind == "tracemalloc" || kind == "memray" || kind == "memory_profiler";
}

void AddRows(const RunTrace& of, std::string_view kind, TableOf<PythonLinesRows>& table) {
  const Trace& trace = *of.trace;
  const HostFunctionTable& lines = trace.host_functions;
  const auto& amount = IsOfMemory(kind) ? lines.bytes : lines.self_ns;
  std::vector<size_t> rows;
  for (size_t row = 0; row < lines.size(); ++row)
    if (lines.function[row] == StringId::kNone && amount[row] != kAbsent && amount[row] > 0) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return amount[a] > amount[b]; });
  // Imports hold most memory: the lines of the program itself stay, however far behind they are.
  std::vector<size_t> kept;
  for (const size_t row : rows)
    if (kept.size() < kMaxRows || IsUsersFile(trace.Text(lines.file[row]))) kept.push_back(row);
  rows = std::move(kept);
  for (const size_t row : rows) {
    const std::string_view file = trace.Text(lines.file[row]);
    table.Row(of)
        .Set("kind", kind)
        .Set("file", file)
        .Set("line", lines.line[row])
        .Set("is_users", IsUsersFile(file))
        .Set("calls", lines.calls[row])
        .Set("self_ns", lines.self_ns[row])
        .Set("bytes", lines.bytes[row]);
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<PythonLinesRows> table;
  for (const RunTrace& of : run.traces()) {
    if (!of.counts() || of.trace->host_functions.size() == 0) continue;
    const std::string_view kind = PythonProfileKind(*of.trace);
    if (kind == "lines" || kind == "scalene" || IsOfMemory(kind)) AddRows(of, kind, table);
  }
  return table;
}

}  // namespace

ANALYSIS(python_lines) = AnalysisOf<PythonLinesRows>({.run = Compute});

}  // namespace gapless::internal::python_lines_analysis
