// SPDX-License-Identifier: Apache-2.0
// Runs nsys around a command and exports its report to SQLite. Sampling of the processors is switched off, since
// our reader takes only the timeline. Old versions end their report in .qdrep.
#include "collect/nsight/systems.h"

#include <filesystem>

#include "base/strings.h"
#include "collect/nsight/programs.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

}  // namespace

NsightSystemsProfiler::NsightSystemsProfiler(RunProcess run, FindTool find)
    : run_(std::move(run)), find_(std::move(find)) {}

Result<std::string> NsightSystemsProfiler::Find() const { return FindNsight("nsys", find_); }

std::vector<std::string> NsightSystemsProfiler::ProfileLine(const std::string& nsys,
                                                            const std::vector<std::string>& command,
                                                            const std::string& output,
                                                            const NsightSystemsOptions& options) {
  std::vector<std::string> line = {nsys,
                                   "profile",
                                   "--force-overwrite=true",
                                   "--sample=none",
                                   "--cpuctxsw=none",
                                   "--output=" + output,
                                   "--trace=" + options.trace};
  if (options.duration_s) {
    line.push_back(StrCat("--duration=", FormatNumber(*options.duration_s, 0)));
    line.emplace_back("--kill=none");
  }
  if (options.cuda_memory_usage) line.emplace_back("--cuda-memory-usage=true");
  line.insert(line.end(), options.extra.begin(), options.extra.end());
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

std::vector<std::string> NsightSystemsProfiler::ExportLine(const std::string& nsys, const std::string& report,
                                                           const std::string& sqlite) {
  return {nsys, "export", "--type=sqlite", "--force-overwrite=true", "--output=" + sqlite, report};
}

Result<NsightSystemsResult> NsightSystemsProfiler::Profile(const std::vector<std::string>& command,
                                                           const std::string& output,
                                                           const NsightSystemsOptions& options) const {
  if (command.empty()) return Fail(ErrorCode::kUsage, "there is no command to profile", "nsys");
  if (options.duration_s && !(*options.duration_s >= 1))
    return Fail(ErrorCode::kUsage, "nsys records for whole seconds, one at least", "--duration");
  GAPLESS_ASSIGN(const auto nsys, Find());
  GAPLESS_TRY(MakeFolderOf(output));
  std::error_code ignored;
  for (const char* ending : {".nsys-rep", ".qdrep"}) fs::remove(output + ending, ignored);
  // Two profilers cannot use CUPTI at once: ours stays out.
  GAPLESS_ASSIGN(const auto status,
                 run_({.argv = ProfileLine(nsys, command, output, options), .environment = kWithoutOurs}));
  NsightSystemsResult result{.report = output + ".nsys-rep", .sqlite = "", .command_status = status};
  if (!IsWritten(result.report)) result.report = output + ".qdrep";
  if (!IsWritten(result.report))
    return Fail(ErrorCode::kCommand, StrCat("nsys wrote no report (its status was ", status, ")"), output + ".nsys-rep",
                "gapless doctor; nsys status --environment");
  result.sqlite = fs::path(result.report).replace_extension(".sqlite").string();
  GAPLESS_TRY(Export(result.report, result.sqlite));
  return result;
}

Result<void> NsightSystemsProfiler::Export(const std::string& report, const std::string& sqlite) const {
  GAPLESS_ASSIGN(const auto nsys, Find());
  std::error_code ignored;
  fs::remove(sqlite, ignored);
  GAPLESS_ASSIGN(const auto status,
                 run_({.argv = ExportLine(nsys, report, sqlite), .environment = {}, .output_file = "/dev/null"}));
  if (status != 0 || !IsWritten(sqlite))
    return Fail(ErrorCode::kCommand, StrCat("nsys could not export its report (status ", status, ")"), report,
                "a report can only be exported by the version that wrote it, or a newer one");
  return {};
}

}  // namespace gapless::internal
