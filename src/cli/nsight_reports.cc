// SPDX-License-Identifier: Apache-2.0
// Exports reports of Nsight Compute with ncu, once, into a file beside the report. An export that is older
// than its report is never replaced, because it may be the user's.
#include "cli/nsight_reports.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/strings.h"
#include "collect/nsight/compute.h"
#include "collect/nsight/programs.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReportEnding = ".ncu-rep", kExportEnding = ".ncu.csv";

// Returns true if the export exists and is not older than its report.
bool IsUpToDate(const std::string& exported, const std::string& report) {
  std::error_code error;
  const auto made = fs::last_write_time(exported, error);
  if (error) return false;
  const auto written = fs::last_write_time(report, error);
  return !error && made >= written;
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Returns an error with the command to run where the tool is installed, since the export can be brought from there.
Error CannotExport(const std::string& report, const std::string& exported, const Error& why) {
  const std::string line = StrCat("ncu --import ", ShellWord(report), " --csv --page raw > ", ShellWord(exported));
  return {why.code == ErrorCode::kEnvironment ? ErrorCode::kEnvironment : ErrorCode::kInput,
          StrCat("cannot read ", report, ": ", why.message), report,
          StrCat("where ncu is installed: ", line, "; then give ", exported)};
}

// Returns the path of the export, which is made unless it exists. It has a temporary name until it is complete.
Result<std::string> Exported(const std::string& report) {
  const std::string exported = StrCat(report.substr(0, report.size() - kReportEnding.size()), kExportEnding);
  if (IsUpToDate(exported, report)) return exported;
  if (std::error_code error; fs::exists(exported, error))
    return Fail(ErrorCode::kInput, StrCat("cannot export ", report, ": ", exported, " is there, and older"), report,
                StrCat("delete ", exported, ", or give another export of the report"));
  std::fputs(StrCat("gapless: exporting ", Printable(report), " with ncu\n").c_str(), stderr);
  const std::string part = StrCat(exported, ".part-", ::getpid());
  const auto done = NsightComputeProfiler().Import(report, part);
  std::error_code error;
  if (done) fs::rename(part, exported, error);
  if (!done || error) {
    std::error_code ignored;
    fs::remove(part, ignored);
    const Error why = done ? Error{ErrorCode::kEnvironment, error.message(), "", ""} : done.error();
    return Unexpected{CannotExport(report, exported, why)};
  }
  return exported;
}

}  // namespace

// Exports only files that are named; folders, and reports in them, are passed on as they are.
Result<std::vector<std::string>> ExportedReports(std::span<const std::string> paths) {
  std::vector<std::string> replaced;
  for (const std::string& path : paths) {
    if (!path.ends_with(kReportEnding) || !IsFile(path)) {
      replaced.push_back(path);
      continue;
    }
    GAPLESS_ASSIGN(auto exported, Exported(path));
    replaced.push_back(std::move(exported));
  }
  return replaced;
}

}  // namespace gapless::internal
