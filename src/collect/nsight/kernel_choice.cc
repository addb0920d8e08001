// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels of a recording that ncu measures. Profilers write the template arguments of one kernel in
// different ways ("4", "(int)4"), so kernels are named by their function alone; instances of one template count
// together. Of each function, launches from the middle on are measured: with 100 calls and 3 wanted launches, 50
// are skipped.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "collect/nsight/compute.h"

namespace gapless::internal {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

std::string Without(std::string text, std::string_view part) {
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
  return text;
}

// Up to the parameters, without template arguments: "void ns::gemm".
std::string WithoutArguments(std::string_view kernel) {
  std::string out;
  int depth = 0;
  for (const char c : kernel) {
    if (c == '(' && depth == 0) break;
    if (c == '>' && depth > 0)
      --depth;
    else if (c == '<')
      ++depth;
    else if (depth == 0)
      out += c;
  }
  return out;
}

}  // namespace

// Takes the last name before the parameters, without namespaces, template arguments and return type.
std::string FunctionName(std::string_view kernel) {
  std::string name(kernel);
  for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"})
    name = Without(std::move(name), unnamed);
  name = WithoutArguments(name);
  while (!name.empty() && name.back() == ' ') name.pop_back();
  size_t from = name.size();
  while (from > 0 && IsNameCharacter(name[from - 1])) --from;
  return name.substr(from);
}

std::vector<KernelTarget> ChooseKernels(std::span<const KernelTotal> kernels, const NsightComputeOptions& options) {
  if (options.kernel_name) {
    const std::string& name = *options.kernel_name;
    return {{.kernel_name = name.starts_with("regex:") ? name : "regex:" + name,
             .launch_skip = options.launch_skip,
             .launch_count = options.launch_count}};
  }
  std::map<std::string, KernelTotal> by_function;
  for (const KernelTotal& kernel : kernels) {
    std::string function = FunctionName(kernel.name);
    if (function.empty()) continue;
    KernelTotal& total = by_function[function];
    total.name = function, total.total_ns += kernel.total_ns, total.calls += kernel.calls;
  }
  std::vector<KernelTotal> order;
  for (auto& [function, total] : by_function) order.push_back(std::move(total));
  std::ranges::stable_sort(order, std::ranges::greater(), &KernelTotal::total_ns);
  if (order.size() > options.kernels) order.resize(options.kernels);
  std::vector<KernelTarget> targets;
  for (const KernelTotal& total : order) {
    const int64_t count = std::max<int64_t>(1, std::min(options.launch_count, total.calls));
    const int64_t skip = std::max<int64_t>(0, std::min(total.calls / 2, total.calls - count));
    targets.push_back({.kernel_name = total.name, .launch_skip = skip, .launch_count = count});
  }
  return targets;
}

}  // namespace gapless::internal
