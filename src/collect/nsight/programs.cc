// SPDX-License-Identifier: Apache-2.0
// Finds the tools of Nsight, and says how to install those that are missing.
#include "collect/nsight/programs.h"

#include <filesystem>

#include "base/strings.h"
#include "collect/private_files.h"
#include "collect/telemetry/child_lines.h"

namespace gapless::internal {

std::string_view HowToGet(std::string_view tool) {
  if (tool == "nsys") return "apt install nsight-systems-cli (from NVIDIA's repository)";
  if (tool == "ncu") return "apt install nsight-compute (it comes with the CUDA toolkit)";
  if (tool == "dcgmi") return "apt install datacenter-gpu-manager";
  if (tool == "py-spy") return "pip install py-spy";
  return "";
}

Result<std::string> FindNsight(std::string_view tool, const FindTool& find) {
  std::string path = find ? find(tool) : FindProgram(tool);
  if (path.empty())
    return Fail(ErrorCode::kEnvironment, StrCat(tool, " is not on PATH"), std::string(tool),
                std::string(HowToGet(tool)));
  return path;
}

Result<void> MakeFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return {};
  auto made = MakeFolders(folder.string(), kOwnFolder);
  if (made) return made;
  Error error = made.error();
  error.hint = "choose another folder with -o";
  return Unexpected{std::move(error)};
}

bool IsWritten(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0;
}

}  // namespace gapless::internal
