// SPDX-License-Identifier: Apache-2.0
// Chooses kernels, runs ncu for each of them and imports its report as CSV. If nothing was measured, the cause is read
// from ncu's log. Files of an earlier run are removed first, so that an old report cannot pass for a new one.
#include "collect/nsight/compute.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/strings.h"
#include "collect/nsight/programs.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the reason why ncu measured nothing, derived from its log.
Error WhyNothing(const std::string& log_path, int status, const KernelTarget& target) {
  const std::string log = Content(log_path);
  if (log.find("ERR_NVGPUCTRPERM") != std::string::npos)
    return {ErrorCode::kEnvironment, "this user may not read the GPU's performance counters", "ncu",
            "gapless doctor says how to change that"};
  if (log.find("No kernels were profiled") != std::string::npos)
    return {ErrorCode::kCommand, StrCat("no launch matched ", target.kernel_name), "ncu",
            "a smaller --launch-skip, or another --kernel-name"};
  return {ErrorCode::kCommand, StrCat("ncu wrote no report (its status was ", status, ")"), log_path, "read its log"};
}

}  // namespace

NsightComputeProfiler::NsightComputeProfiler(RunProcess run, FindTool find)
    : run_(std::move(run)), find_(std::move(find)) {}

// The program is killed after the last measured launch, since nothing after that is wanted.
std::vector<std::string> NsightComputeProfiler::ProfileLine(const std::string& ncu,
                                                            const std::vector<std::string>& command,
                                                            const KernelTarget& target, const std::string& output,
                                                            const NsightComputeOptions& options) {
  std::vector<std::string> line = {ncu,
                                   "--target-processes",
                                   "all",
                                   "--kernel-name-base",
                                   target.name_base,
                                   "--kernel-name",
                                   target.kernel_name,
                                   "--launch-skip",
                                   StrCat(target.launch_skip),
                                   "--launch-count",
                                   StrCat(target.launch_count),
                                   "--set",
                                   options.set,
                                   "--kill",
                                   "yes",
                                   "--force-overwrite",
                                   "--export",
                                   output + ".ncu-rep",
                                   "--log-file",
                                   output + ".log"};
  line.insert(line.end(), options.extra.begin(), options.extra.end());
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

std::vector<std::string> NsightComputeProfiler::ImportLine(const std::string& ncu, const std::string& report) {
  return {ncu, "--import", report, "--csv", "--page", "raw", "--print-units", "base"};
}

Result<NsightComputeResult> NsightComputeProfiler::ProfileKernel(const std::vector<std::string>& command,
                                                                 const KernelTarget& target, const std::string& output,
                                                                 const NsightComputeOptions& options) const {
  if (command.empty()) return Fail(ErrorCode::kUsage, "there is no command to profile", "ncu");
  GAPLESS_ASSIGN(const auto ncu, FindNsight("ncu", find_));
  GAPLESS_TRY(MakeFolderOf(output));
  NsightComputeResult result{.target = target, .report = output + ".ncu-rep", .csv = output + ".ncu.csv"};
  std::error_code ignored;
  for (const std::string& old : {result.report, result.csv, output + ".log"}) fs::remove(old, ignored);
  GAPLESS_ASSIGN(const auto status,
                 run_({.argv = ProfileLine(ncu, command, target, output, options), .environment = kWithoutOurs}));
  if (!IsWritten(result.report)) return Unexpected{WhyNothing(output + ".log", status, target)};
  GAPLESS_TRY(Import(result.report, result.csv));
  return result;
}

// Only a failure of a single target is passed over; a missing ncu, or missing rights, would fail all of them.
Result<std::vector<NsightComputeResult>> NsightComputeProfiler::ProfileKernels(const std::vector<std::string>& command,
                                                                               std::span<const KernelTarget> targets,
                                                                               const std::string& folder,
                                                                               const NsightComputeOptions& options,
                                                                               std::vector<Error>& failures) const {
  std::vector<NsightComputeResult> results;
  for (size_t i = 0; i < targets.size(); ++i) {
    auto result = ProfileKernel(command, targets[i], StrCat(folder, "/kernel-", i + 1), options);
    if (result) {
      results.push_back(std::move(*result));
      continue;
    }
    if (result.error().code != ErrorCode::kCommand) return Unexpected{result.error()};
    failures.push_back(result.error());
  }
  if (results.empty() && !failures.empty()) return Unexpected{failures.front()};
  return results;
}

Result<void> NsightComputeProfiler::Import(const std::string& report, const std::string& csv) const {
  GAPLESS_ASSIGN(const auto ncu, FindNsight("ncu", find_));
  GAPLESS_ASSIGN(const auto status,
                 run_({.argv = ImportLine(ncu, report), .environment = kWithoutOurs, .output_file = csv}));
  if (status != 0 || !IsWritten(csv))
    return Fail(ErrorCode::kCommand, StrCat("ncu could not read its report (status ", status, ")"), report,
                "a report can only be read by the version that wrote it, or a newer one");
  return {};
}

// Chooses the kernels of a recording that ncu measures. Profilers write the template arguments of one kernel in
// different ways ("4", "(int)4"), so kernels are named by their function alone; instances of one template count
// together. Of each function, launches from the middle on are measured: with 100 calls and 3 wanted launches, 50
// are skipped.

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
