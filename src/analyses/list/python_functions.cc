// SPDX-License-Identifier: Apache-2.0
// Functions by the time that a profile of the whole run measured (`gapless profile --python`), those of the user's code
// and built-in ones apart from those of libraries.
#include "analyses/rows/python_functions.h"

#include <algorithm>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/user_code.h"

namespace gapless::internal::python_functions_analysis {
namespace {

constexpr size_t kMaxRows = 200;  // rows per trace

void AddRows(const RunTrace& of, std::string_view kind, TableOf<PythonFunctionsRows>& table) {
  const Trace& trace = *of.trace;
  const HostFunctionTable& functions = trace.host_functions;
  std::vector<size_t> rows;
  for (size_t row = 0; row < functions.size(); ++row)
    if (functions.function[row] != StringId::kNone && functions.self_ns[row] != kAbsent) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return functions.self_ns[a] > functions.self_ns[b]; });
  rows.resize(std::min(rows.size(), kMaxRows));
  for (const size_t row : rows) {
    const std::string_view file = trace.Text(functions.file[row]);
    table.Row(of)
        .Set("kind", kind)
        .Set("function", trace.Text(functions.function[row]))
        .Set("file", file)
        .Set("line", file.empty() ? kAbsent : functions.line[row])
        .Set("is_users", IsUsersFile(file))
        .Set("calls", functions.calls[row])
        .Set("self_ns", functions.self_ns[row])
        .Set("total_ns", functions.total_ns[row]);
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<PythonFunctionsRows> table;
  for (const RunTrace& of : run.traces()) {
    if (!of.counts() || of.trace->host_functions.size() == 0) continue;
    const std::string_view kind = PythonProfileKind(*of.trace);
    if (kind == "sample" || kind == "cprofile" || kind == "scalene") AddRows(of, kind, table);
  }
  return table;
}

}  // namespace

ANALYSIS(python_functions) = AnalysisOf<PythonFunctionsRows>({.run = Compute});

}  // namespace gapless::internal::python_functions_analysis
