// SPDX-License-Identifier: Apache-2.0
// Nsight Compute around a command: measures chosen kernels and prints their metrics as CSV, which our reader takes
// (ingest/readers/ncu_csv.cc). Each kernel is measured in a run of its own, which ends as soon as the wanted launches
// are measured: ncu replays a launch many times, so measuring all of them would take hours.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/nsight/programs.h"

namespace gapless::internal {

// A kernel of a previous recording.
struct KernelTotal {
  std::string name;  // as recorded, demangled or not
  int64_t total_ns = 0, calls = 0;
};

// The kernels that one run of ncu measures.
struct KernelTarget {
  std::string kernel_name;  // for ncu --kernel-name: a name, or "regex:…"
  int64_t launch_skip = 0, launch_count = 1;
  std::string name_base = "function";  // ncu --kernel-name-base
};

// NsightComputeOptions say which kernels are measured, and how deeply.
struct NsightComputeOptions {
  std::string set = "full";          // ncu --set
  size_t kernels = 5;                // how many of the previous recording
  int64_t launch_count = 3;          // launches to measure of each kernel
  std::vector<std::string> extra{};  // passed on as they are
  // The user's own choice instead (ncu --kernel-name, --launch-skip): one run.
  std::optional<std::string> kernel_name{};
  int64_t launch_skip = 0;
};

struct NsightComputeResult {
  KernelTarget target;
  std::string report;  // the .ncu-rep
  std::string csv;     // its raw page in base units: ends in .ncu.csv
};

// The name of a kernel's function alone: "gemm" of "void ns::gemm<(int)4, float>(float*)". "" if the name has no such
// part.
std::string FunctionName(std::string_view kernel);

// The kernels that took the most time, by the name of their function, which all tools agree on, most time first.
// Launches from the middle of the recording on are chosen: the first ones warm up.
std::vector<KernelTarget> ChooseKernels(std::span<const KernelTotal> kernels, const NsightComputeOptions& options);

class NsightComputeProfiler {
 public:
  explicit NsightComputeProfiler(RunProcess run = RunAndWait, FindTool find = {});

  // Measures one target; files are called `output` with an ending. Errors: kEnvironment without ncu or without
  // permission to read the counters, kCommand when no launch matched, each with what to do.
  Result<NsightComputeResult> ProfileKernel(const std::vector<std::string>& command, const KernelTarget& target,
                                            const std::string& output, const NsightComputeOptions& options = {}) const;
  // Measures all targets, one after the other, as <folder>/kernel-1 and so on. A target that fails does not end the
  // others, except if all would fail; see `failures`.
  Result<std::vector<NsightComputeResult>> ProfileKernels(const std::vector<std::string>& command,
                                                          std::span<const KernelTarget> targets,
                                                          const std::string& folder,
                                                          const NsightComputeOptions& options,
                                                          std::vector<Error>& failures) const;
  // Prints the metrics of a report that is there already into `csv`.
  Result<void> Import(const std::string& report, const std::string& csv) const;

  static std::vector<std::string> ProfileLine(const std::string& ncu, const std::vector<std::string>& command,
                                              const KernelTarget& target, const std::string& output,
                                              const NsightComputeOptions& options);
  static std::vector<std::string> ImportLine(const std::string& ncu, const std::string& report);

 private:
  RunProcess run_;
  FindTool find_;
};

}  // namespace gapless::internal
