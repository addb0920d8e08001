// SPDX-License-Identifier: Apache-2.0
// Copies traces of PyTorch's profiler to the folder TORCH_TRACE_DIR. Existing files are not replaced. A failure is a
// sentence for the user: the recordings stay in the run folder in any case.
#include "cli/trace_folder.h"

#include <cstdlib>
#include <filesystem>

#include "base/strings.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

// Returns true for a complete trace; links are not followed, and a hidden file is still being written.
bool IsTrace(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  return fs::is_regular_file(entry.symlink_status(error)) && !name.starts_with('.') &&
         name.find(".pt.trace.json") != std::string::npos;
}

}  // namespace

// Stops at the first copy that fails. Without the variable nothing is done and nothing said.
std::vector<std::string> CopyToTraceFolder(const std::string& run_folder) {
  const char* wanted = std::getenv("TORCH_TRACE_DIR");
  if (wanted == nullptr || *wanted == '\0') return {};
  std::error_code error;
  fs::create_directories(wanted, error);
  if (error) return {StrCat("cannot make ", wanted, " (TORCH_TRACE_DIR): ", error.message())};
  size_t copied = 0;
  std::error_code ended;
  for (fs::recursive_directory_iterator at(run_folder, ended), end; !ended && at != end; at.increment(ended)) {
    if (!IsTrace(*at)) continue;
    const fs::path to = fs::path(wanted) / at->path().filename();
    if (fs::exists(to, error)) continue;
    fs::copy_file(at->path(), to, error);
    if (error) return {StrCat("cannot copy a recording to ", to.string(), ": ", error.message())};
    ++copied;
  }
  if (copied == 0) return {};
  return {
      StrCat(FormatCounted(static_cast<int64_t>(copied), "recording"), " copied to ", wanted, " (TORCH_TRACE_DIR)")};
}

}  // namespace gapless::internal
