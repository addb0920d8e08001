// SPDX-License-Identifier: Apache-2.0
// Starts a program with a non-blocking pipe and splits its output into lines. A program that writes a line of over
// 1 MiB is ended. Stop() kills it: these programs only print.
#include "collect/telemetry/child_lines.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;

bool CanRun(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The sampler's thread blocks all signals; the program gets them back.
bool Spawn(const std::vector<std::string>& argv, int output, pid_t& pid) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawn(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error == 0;
}

}  // namespace

std::string FindProgram(std::string_view program) {
  if (program.empty()) return "";
  if (program.find('/') != std::string_view::npos) return CanRun(std::string(program)) ? std::string(program) : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : Split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    std::string file = StrCat(folder.empty() ? "." : folder, '/', program);
    if (CanRun(file)) return file;
  }
  return "";
}

bool ChildLines::Start(const std::vector<std::string>& argv) {
  Stop();
  int ends[2];
  if (argv.empty() || pipe2(ends, O_CLOEXEC) != 0) return false;
  const bool started = Spawn(argv, ends[1], pid_);
  close(ends[1]);
  if (!started) {
    close(ends[0]);
    pid_ = -1;
    return false;
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pipe_ = ends[0];
  return true;
}

// Reads all that is there. The end of the output also collects the program's status, so that no zombie stays.
std::vector<std::string> ChildLines::Take() {
  std::vector<std::string> lines;
  char buffer[4096];
  while (pipe_ >= 0) {
    const ssize_t got = read(pipe_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      if (!partial_.empty()) lines.push_back(partial_);
      Stop();
      break;
    }
    partial_.append(buffer, static_cast<size_t>(got));
    size_t from = 0, end = 0;
    for (; (end = partial_.find('\n', from)) != std::string::npos; from = end + 1)
      lines.push_back(partial_.substr(from, end - from));
    partial_.erase(0, from);
    if (partial_.size() > kLongestLine) Stop();
  }
  return lines;
}

void ChildLines::Stop() {
  if (pipe_ >= 0) close(pipe_);
  pipe_ = -1;
  partial_.clear();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace gapless::internal
