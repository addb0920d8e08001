// SPDX-License-Identifier: Apache-2.0
// Finds a call on a line of a Python file and lists its arguments.
//
// A call has the last part of the name that is called: `a.b.DataLoader(…)`, `(DataLoader)(…)` and `DataLoader[int](…)`
// are calls of DataLoader. Calls in strings are left alone. No expression is evaluated.
#include "optimize/patch/call_site.h"

#include <algorithm>

#include "base/strings.h"
#include "optimize/patch/imports.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxCallee = 80;  // characters of it that a reason shows

// Returns the last part of the called name; no node: the call is of something without a name.
PythonNode NameOf(const PythonSource& source, const PythonNode& call) {
  PythonNode name = call.Field("function");
  bool typed = false;
  while (name && name.kind() != "identifier") {
    const std::string_view kind = name.kind();
    if (kind == "attribute") {
      name = name.Field("attribute");
    } else if (kind == "subscript") {
      name = name.Field("value");
      typed = true;
    } else if (kind == "parenthesized_expression" || kind == "list_splat") {
      name = name.Children().front();  // the grammar reads `*f(x)` as a call of `*f`
    } else {
      return {};
    }
  }
  // `fs[i](…)` calls something else than `fs`; types have capital letters.
  const bool capital = name && source.text()[name.begin()] >= 'A' && source.text()[name.begin()] <= 'Z';
  return typed && !capital ? PythonNode() : name;
}

Argument MakeArgument(const PythonSource& source, const PythonNode& node) {
  Argument argument{.begin = node.begin(), .end = node.end(), .value_begin = node.begin()};
  while (argument.stars < 2 && source.text()[argument.value_begin] == '*') ++argument.stars, ++argument.value_begin;
  PythonNode value = node;
  if (node.kind() == "keyword_argument") {
    argument.name = source.TextOf(node.Field("name"));
    value = node.Field("value");
  } else if (node.kind() == "dictionary_splat") {
    value = node.Children().front();
  }
  if (value != node) argument.value_begin = value.begin();
  constexpr std::string_view kLoose[] = {"boolean_operator",       "not_operator", "comparison_operator",
                                         "conditional_expression", "lambda",       "named_expression"};
  argument.loose = std::ranges::find(kLoose, value.kind()) != std::end(kLoose);
  return argument;
}

CallSite MakeCallSite(const PythonSource& source, const PythonNode& name, const PythonNode& arguments) {
  CallSite call{.name_begin = name.begin(), .open = arguments.begin(), .close = arguments.end() - 1};
  const auto children = arguments.Children();
  if (arguments.kind() == "generator_expression") {
    const size_t begin = children.front().begin();
    call.arguments.push_back({.begin = begin, .end = children.back().end(), .value_begin = begin, .generator = true});
  } else {
    for (const PythonNode& child : children) call.arguments.push_back(MakeArgument(source, child));
  }
  for (size_t at = children.empty() ? call.close : children.back().end(); at < call.close; ++at) {
    if (source.text()[at] == '#') at = source.StartOf(source.LineOf(at) + 1) - 1;
    if (source.text()[at] == ',') call.last_comma = at;
  }
  return call;
}

// Returns what the line calls where that is computed, as in `registry[name](…)` and `getattr(module, name)(…)`; empty:
// nothing is, or more than one.
std::string ComputedCallee(const PythonSource& source, const LogicalLine& line) {
  std::vector<std::string_view> found;
  source.tree().Walk([&](const PythonNode& node) {
    if (node.end() <= line.begin || node.begin() >= line.end) return false;
    if (node.kind() != "call" || node.begin() < line.begin) return true;
    const PythonNode callee = node.Field("function");
    if (callee && (callee.kind() == "call" || callee.kind() == "subscript")) found.push_back(source.TextOf(callee));
    return true;
  });
  return found.size() == 1 ? Ellipsize(Printable(found[0]), kMaxCallee) : "";
}

std::vector<CallSite> CallsOf(const PythonSource& source, const LogicalLine& line,
                              const std::set<std::string, std::less<>>& names) {
  std::vector<CallSite> found;
  source.tree().Walk([&](const PythonNode& node) {
    if (node.end() <= line.begin || node.begin() >= line.end) return false;
    if (node.kind() != "call") return true;
    const PythonNode called = NameOf(source, node);
    if (called && called.begin() >= line.begin && called.begin() < line.end && names.contains(source.TextOf(called)))
      found.push_back(MakeCallSite(source, called, node.Field("arguments")));
    return true;
  });
  return found;
}

// Returns the calls of a statement that this line of the file belongs to, preferably those that begin on it.
// Python reports different lines for a call by version: that of the name, or any line that the call spans.
std::vector<CallSite> At(const PythonSource& source, int line, const std::vector<CallSite>& calls) {
  std::vector<CallSite> on, within;
  for (const CallSite& call : calls) {
    if (source.LineOf(call.name_begin) == line) on.push_back(call);
    if (source.LineOf(call.name_begin) <= line && line <= source.LineOf(call.close)) within.push_back(call);
  }
  if (!on.empty()) return on;
  return within.empty() ? calls : within;
}

}  // namespace

Result<CallSite> FindCall(const PythonSource& source, std::string_view name, int line) {
  const size_t index = source.IndexAt(line);
  if (index >= source.lines().size() || name.empty())
    return Fail(ErrorCode::kInput, StrCat("line ", line, " holds no statement"));
  auto names = AliasesOf(source, name);
  names.emplace(name);
  std::vector<CallSite> calls = CallsOf(source, source.lines()[index], names);
  if (calls.size() > 1) calls = At(source, line, calls);
  if (calls.empty()) {
    const std::string callee = ComputedCallee(source, source.lines()[index]);
    if (callee.empty()) return Fail(ErrorCode::kInput, StrCat("line ", line, " holds no call of ", name));
    return Fail(ErrorCode::kInput, StrCat("line ", line, " makes ", name, " by calling ", callee,
                                          ", which may make something else in another run"));
  }
  if (calls.size() > 1)
    return Fail(ErrorCode::kInput, StrCat("line ", line, " holds ", calls.size(), " calls of ", name));
  return std::move(calls.front());
}

std::optional<CallSite> CallAt(const PythonSource& source, size_t name_begin) {
  std::optional<CallSite> found;
  source.tree().Walk([&](const PythonNode& node) {
    if (found || node.end() <= name_begin || node.begin() > name_begin) return false;
    if (node.kind() != "call") return true;
    const PythonNode called = NameOf(source, node);
    if (called && called.begin() == name_begin) found = MakeCallSite(source, called, node.Field("arguments"));
    return true;
  });
  return found;
}

// The order is that of the signatures in PyTorch.
std::vector<std::string_view> PositionalNames(std::string_view call) {
  if (call == "DataLoader")
    return {"dataset",    "batch_size", "shuffle",   "sampler", "batch_sampler",  "num_workers",
            "collate_fn", "pin_memory", "drop_last", "timeout", "worker_init_fn", "multiprocessing_context",
            "generator"};
  if (call == "DistributedDataParallel") return {"module", "device_ids", "output_device", "dim", "broadcast_buffers"};
  if (call == "zero_grad") return {"set_to_none"};
  if (call == "set_num_threads") return {"int"};
  if (call == "set_detect_anomaly") return {"mode", "check_nan"};
  return {};
}

}  // namespace gapless::internal
