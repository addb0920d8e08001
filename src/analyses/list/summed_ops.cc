// SPDX-License-Identifier: Apache-2.0
// Sums of a profiler: operators and kernels by the time of all their calls. Such a recording has no timeline,
// so nothing is known of what ran at the same time.
#include "analyses/rows/summed_ops.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::summed_ops_analysis {
namespace {

constexpr size_t kMaxRows = 200;  // rows of a side

struct Op {
  std::string_view name{}, op_class{};
  int64_t calls = 0, total_ns = 0;
};

std::string_view Environment(const Trace& trace, std::string_view key) {
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == key) return trace.Text(trace.environment.value[row]);
  return {};
}

std::string_view ClassOf(std::string_view name) {
  if (name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("aten::copy_")) return "copy";
  if (name.find("nccl") != name.npos) return "communication";
  return "other";
}

// A kernel's launch_index is its row in the summary.
std::vector<Op> DeviceOps(const Trace& trace) {
  std::map<int64_t, Op> ops;
  const KernelMetricTable& rows = trace.kernel_metrics;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (std::isnan(rows.value[row])) continue;
    Op& op = ops[rows.launch_index[row]];
    op.name = trace.Text(rows.kernel_name[row]);
    op.op_class = ClassOf(op.name);
    if (trace.Text(rows.metric[row]) == "summary.calls") op.calls = std::llround(rows.value[row]);
    if (trace.Text(rows.metric[row]) == "summary.total") op.total_ns = std::llround(rows.value[row]);
  }
  std::vector<Op> all;
  for (const auto& [index, op] : ops) all.push_back(op);
  return all;
}

std::vector<Op> HostOps(const Trace& trace) {
  std::vector<Op> ops;
  const HostFunctionTable& rows = trace.host_functions;
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t ns = rows.self_ns[row] != kAbsent ? rows.self_ns[row] : rows.total_ns[row];
    if (ns != kAbsent) ops.push_back({trace.Text(rows.function[row]), {}, rows.calls[row], ns});
  }
  return ops;
}

void AddSide(const RunTrace& of, std::string_view side, std::vector<Op> ops, std::string_view said,
             TableOf<SummedOpsRows>& table) {
  int64_t total = 0, all = 0;
  for (const Op& op : ops) all += op.total_ns;
  if (std::from_chars(said.data(), said.data() + said.size(), total).ec != std::errc() || total < all) total = all;
  std::ranges::stable_sort(ops, std::greater(), &Op::total_ns);
  ops.resize(std::min(ops.size(), kMaxRows));
  for (const Op& op : ops) {
    auto row = table.Row(of);
    row.Set("side", side).Set("name", op.name).Set("class", op.op_class).Set("calls", op.calls);
    row.Set("total_ns", op.total_ns).Set("mean_ns", op.calls > 0 ? op.total_ns / op.calls : kAbsent);
    row.Set("share", total > 0 ? static_cast<double>(op.total_ns) / static_cast<double>(total) : 0.0);
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<SummedOpsRows> table;
  for (const RunTrace& of : run.traces()) {
    if (Environment(*of.trace, "summary").empty()) continue;
    AddSide(of, "device", DeviceOps(*of.trace), Environment(*of.trace, "summary.device_ns"), table);
    AddSide(of, "host", HostOps(*of.trace), Environment(*of.trace, "summary.cpu_ns"), table);
  }
  return table;
}

}  // namespace

ANALYSIS(summed_ops) = AnalysisOf<SummedOpsRows>({.run = Compute});

}  // namespace gapless::internal::summed_ops_analysis
