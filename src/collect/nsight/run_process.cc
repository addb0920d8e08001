// SPDX-License-Identifier: Apache-2.0
// Starts a process with its own environment and output files, and waits for its end.
#include "collect/nsight/run_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// "NAME=value" of this process and of the request, which wins.
std::vector<std::string> EnvironmentOf(const ProcessRequest& request) {
  std::vector<std::string> all;
  for (const auto& [name, value] : request.environment) all.push_back(StrCat(name, '=', value));
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    bool replaced = false;
    for (const auto& [name, value] : request.environment)
      replaced |= entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=';
    if (!replaced) all.emplace_back(entry);
  }
  return all;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

// A request without an output file lets the tool print to our own output.
Result<int> RunAndWait(const ProcessRequest& request) {
  if (request.argv.empty()) return Fail(ErrorCode::kUsage, "there is no program to run");
  const std::vector<std::string> environment = EnvironmentOf(request);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (!request.output_file.empty())
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, request.output_file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, request.argv[0].c_str(), &files, nullptr, Pointers(request.argv).data(),
                                Pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return Fail(ErrorCode::kCommand, StrCat("cannot be started: ", std::strerror(error)), request.argv[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return Fail(ErrorCode::kCommand, "was lost while it ran", request.argv[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace gapless::internal
