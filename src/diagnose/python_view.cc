// SPDX-License-Identifier: Apache-2.0
// Sums the self time of Python functions over ranks, and the time that they sleep.
#include "diagnose/python_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/host_waits.h"
#include "analyses/rows/python_functions.h"
#include "analyses/rows/python_time.h"
#include "diagnose/evidence.h"
#include "diagnose/whole_run_view.h"

namespace gapless::internal {
namespace {

struct Sums {
  int64_t self_ns = 0, calls = 0;
  std::map<std::string, int64_t> callees, lines;
};

void Add(const PythonTimeRows& time, size_t row, Sums& sums) {
  const int64_t ns = time.Int(row, "self_ns");
  sums.self_ns += ns;
  if (time.IsNull(row, "callee")) sums.calls += time.Int(row, "calls");
  sums.callees[TextOr(time, row, "callee", "")] += ns;
  if (!time.IsNull(row, "source_line")) sums.lines[std::string(time.Text(row, "source_line"))] += ns;
}

std::pair<std::string, int64_t> MostOf(const std::map<std::string, int64_t>& sums) {
  const auto most =
      std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == sums.end()) return {};
  return {most->first, most->second};
}

PythonFunction FunctionOf(const std::string& name, const Sums& sums) {
  PythonFunction function;
  function.name = name, function.self_ns = sums.self_ns, function.calls = sums.calls;
  std::tie(function.callee, function.callee_ns) = MostOf(sums.callees);
  std::tie(function.line, function.line_ns) = MostOf(sums.lines);
  return function;
}

}  // namespace

bool IsSleep(std::string_view callee) { return callee == "sleep" || callee.find(" time.sleep>") != callee.npos; }

bool IsWaiting(std::string_view callee) { return IsWaitingCall(callee); }

std::vector<PythonFunction> PythonFunctions(const PythonTimeRows& python_time) {
  std::map<std::string, Sums> by_function;
  for (size_t row = 0; row < python_time.rows(); ++row)
    if (!IsWaiting(TextOr(python_time, row, "callee", "")))
      Add(python_time, row, by_function[TextOr(python_time, row, "function", "code outside of functions")]);
  std::vector<PythonFunction> functions;
  for (const auto& [name, sums] : by_function) functions.push_back(FunctionOf(name, sums));
  std::stable_sort(functions.begin(), functions.end(),
                   [](const PythonFunction& a, const PythonFunction& b) { return a.self_ns > b.self_ns; });
  return functions;
}

namespace {

constexpr double kNearlyAll = 0.9;  // of a time: then it is that of one rank

PythonFunction AsleepByProfile(Tables& tables, int64_t steps_ns) {
  PythonFunction asleep;
  const WholeRunView run(tables);
  const auto functions = tables.Get<PythonFunctionsRows>();
  for (size_t row = 0; row < functions.rows(); ++row)
    if (functions.Text(row, "kind") == "cprofile" && IsSleep(functions.Text(row, "function")))
      asleep.self_ns += functions.Int(row, "self_ns"), asleep.calls += functions.Int(row, "calls");
  const double share = std::min(1.0, run.Share(asleep.self_ns));
  asleep.self_ns = static_cast<int64_t>(share * static_cast<double>(steps_ns));
  return asleep;
}

}  // namespace

PythonFunction Asleep(Tables& tables, int64_t steps_ns) {
  const auto python_time = tables.Get<PythonTimeRows>();
  if (python_time.rows() == 0) return AsleepByProfile(tables, steps_ns);
  Sums sums;
  std::map<std::string, int64_t> functions;
  std::map<int64_t, int64_t> by_rank;
  int64_t calls = 0;
  for (size_t row = 0; row < python_time.rows(); ++row) {
    if (!python_time.IsNull(row, "rank")) by_rank[python_time.Int(row, "rank")] += 0;
    if (!IsSleep(TextOr(python_time, row, "callee", ""))) continue;
    Add(python_time, row, sums);
    calls += python_time.Int(row, "calls");
    functions[TextOr(python_time, row, "function", "code outside of functions")] += python_time.Int(row, "self_ns");
    if (!python_time.IsNull(row, "rank")) by_rank[python_time.Int(row, "rank")] += python_time.Int(row, "self_ns");
  }
  PythonFunction asleep = FunctionOf(MostOf(functions).first, sums);
  asleep.calls = calls;
  for (const auto& [rank, ns] : by_rank)
    if (by_rank.size() > 1 && static_cast<double>(ns) > kNearlyAll * static_cast<double>(asleep.self_ns))
      asleep.rank = rank;
  return asleep;
}

}  // namespace gapless::internal
