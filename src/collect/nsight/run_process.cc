// SPDX-License-Identifier: Apache-2.0
// Starts a process with its own environment and output files, and waits for its end.
#include "collect/nsight/run_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/stop_signal.h"
#include "base/strings.h"
#include "collect/exec_words.h"

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

}  // namespace gapless::internal
