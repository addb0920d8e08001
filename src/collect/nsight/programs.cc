// SPDX-License-Identifier: Apache-2.0
// Finds the tools of Nsight, says how to install those that are missing, and runs one with its own environment and
// output file.
#include "collect/nsight/programs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/stop_signal.h"
#include "base/strings.h"
#include "collect/exec_words.h"
#include "collect/private_files.h"
#include "collect/telemetry/child_lines.h"

namespace gapless::internal {

// A request without an output file lets the tool print to our own output.
Result<int> RunAndWait(const ProcessRequest& request) {
  if (request.argv.empty()) return Fail(ErrorCode::kUsage, "there is no program to run");
  std::vector<std::string> words = request.argv, environment = EnvironmentWith(request.environment);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (!request.output_file.empty())
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, request.output_file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, words[0].c_str(), &files, nullptr, Pointers(words).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return Fail(ErrorCode::kCommand, StrCat("cannot be started: ", std::strerror(error)), request.argv[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno == EINTR && StopSignal() != 0)
      ::kill(pid, StopSignal());
    else if (errno != EINTR)
      return Fail(ErrorCode::kCommand, "was lost while it ran", request.argv[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

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
