// SPDX-License-Identifier: Apache-2.0
// Nsight Systems around a command: record, export to SQLite, which our reader takes (ingest/readers/nsys.cc).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/nsight/programs.h"

namespace gapless::internal {

// NsightSystemsOptions are options of nsys, by the names that nsys has for them.
struct NsightSystemsOptions {
  std::string trace = "cuda,nvtx,cublas,cudnn";  // nsys --trace
  std::optional<double> duration_s{};            // nsys --duration; the command goes on to its end
  bool cuda_memory_usage = false;                // nsys --cuda-memory-usage
  std::vector<std::string> extra{};              // passed on as they are
};

struct NsightSystemsResult {
  std::string report;      // the .nsys-rep (or .qdrep of an old version)
  std::string sqlite;      // the exported file
  int command_status = 0;  // status of the user's command, as nsys passes it on
};

class NsightSystemsProfiler {
 public:
  // `find` gives "" for a tool that is not there.
  explicit NsightSystemsProfiler(RunProcess run = RunAndWait, FindTool find = {});

  // Runs `command` under nsys; files are called `output` with an ending ("run/nsys/report" gives
  // run/nsys/report.nsys-rep and .sqlite), and their folder is made. Errors: kEnvironment without nsys, kCommand when
  // nsys wrote nothing, with what to do.
  Result<NsightSystemsResult> Profile(const std::vector<std::string>& command, const std::string& output,
                                      const NsightSystemsOptions& options = {}) const;
  // Exports a report that is there already into `sqlite`, which is replaced.
  Result<void> Export(const std::string& report, const std::string& sqlite) const;

  // The command lines, for people to see and for tests.
  static std::vector<std::string> ProfileLine(const std::string& nsys, const std::vector<std::string>& command,
                                              const std::string& output, const NsightSystemsOptions& options);
  static std::vector<std::string> ExportLine(const std::string& nsys, const std::string& report,
                                             const std::string& sqlite);

 private:
  Result<std::string> Find() const;

  RunProcess run_;
  FindTool find_;
};

}  // namespace gapless::internal
