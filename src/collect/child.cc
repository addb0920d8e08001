// SPDX-License-Identifier: Apache-2.0
// Starts a command with fork and exec. Between them only async-signal-safe calls are made; a failed exec is
// reported through a pipe.
//
// The pipe closes by itself when exec succeeds, so the launcher reads either nothing (the command runs) or an
// errno, without waiting longer than exec takes. Everything that allocates memory, the arguments and the
// environment, is prepared before the fork.
#include "collect/child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/strings.h"
#include "collect/exec_words.h"
#include "collect/files.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr int64_t kPatienceNs = int64_t{kSecondsUntilSigkill} * 1'000'000'000;

// Binds the calling process to these processors; returns false with errno.
bool KeepTo(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void Execute(const ChildOptions& options, char** argv, char** environment, int output, int report) {
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);  // what we set
  ::sigprocmask(SIG_SETMASK, &options.mask, nullptr);
  int error = 0;
  if (!options.working_folder.empty() && ::chdir(options.working_folder.c_str()) != 0) error = errno;
  if (!options.cpus.empty() && error == 0 && !KeepTo(options.cpus)) error = errno;
  if (output >= 0) ::dup2(output, STDERR_FILENO);
  if (output >= 0 || options.output_to_stderr) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (error == 0) {
    ::execvpe(argv[0], argv, environment);
    error = errno;
  }
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(kNotFound);
}

// Says what to type instead of a command that the system could not start. A script is the usual one.
std::string HintForUnstarted(const std::vector<std::string>& words, bool missing) {
  if (words[0].ends_with(".py")) {
    std::string line = "-- python";
    for (const std::string& word : words) line += StrCat(" ", ShellWord(word));
    return StrCat("a script needs its interpreter: ", line);
  }
  return missing ? "give the program and its arguments after --, as you would type them"
                 : StrCat("if it is a program: chmod +x ", ShellWord(words[0]));
}

}  // namespace

Result<Child> Child::Start(const ChildOptions& options, int* exec_failure) {
  std::vector<std::string> words = options.argv, lines = EnvironmentWith(options.environment);
  std::vector<char*> argv = Pointers(words), environment = Pointers(lines);
  Descriptor output;
  if (!options.output_path.empty()) {
    output = Descriptor(
        ::open(options.output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, kOwnFile));
    if (!output) return SystemFailure("cannot write the command's output", options.output_path, errno);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return SystemFailure("cannot start the command", words[0], errno);
  Descriptor read_end(ends[0]), write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return SystemFailure("cannot start the command", words[0], errno);
  if (pid == 0) Execute(options, argv.data(), environment.data(), output.get(), write_end.get());
  write_end = Descriptor();
  int error = 0;
  ssize_t got = 0;
  do got = ::read(read_end.get(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof error))
    return Child(pid, options.ends_with_us ? LauncherWatch(pid) : LauncherWatch());
  ::waitpid(pid, nullptr, 0);
  const bool missing = error == ENOENT || error == ENOTDIR;
  *exec_failure = missing ? kNotFound : kNotExecutable;
  return Fail(ErrorCode::kCommand,
              missing ? "command not found"
                      : StrCat("the command cannot be executed: ", std::generic_category().message(error)),
              words[0], HintForUnstarted(words, missing));
}

std::optional<int> Child::Ended() {
  if (status_) return status_;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended != pid_) return std::nullopt;
  if (WIFSIGNALED(status)) signal_ = WTERMSIG(status);
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

bool Child::End(int signal) {
  const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
  if (!ending_) {
    ending_.emplace("/proc");
    kill_at_ns_ = now_ns + kPatienceNs;
  }
  const size_t running = SignalTree(*ending_, pid_, now_ns >= kill_at_ns_ ? SIGKILL : 0);
  if (!Ended()) return false;
  // A process that outlives its parent has not had the signal if that went to the parent alone. It gets it once.
  if (!std::exchange(told_all_, true)) return SignalTree(*ending_, pid_, signal) == 0;
  return running == 0;
}

void Child::EndAndWait(int signal) {
  while (!End(signal)) std::this_thread::sleep_for(kBetweenLooks);
}

}  // namespace gapless::internal
