// SPDX-License-Identifier: Apache-2.0
// Implements LauncherWatch by a forked process that waits on a pipe.
//
// The watch is not a parent of the command, whose getppid() and process group stay as without gapless; a signal that
// the kernel sends at a parent's death would reach the command alone, and not what is below it. The watch is forked
// from a program with threads and executes no other program. Until we are gone it makes system calls only; then it
// allocates memory, which the C library allows after a fork.
#include "collect/launcher_watch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "collect/telemetry/process_tree.h"

namespace gapless::internal {
namespace {

constexpr std::chrono::milliseconds kWatchPoll{50};
constexpr int kWatchPolls = kSecondsUntilSigkill * 1000 / 50;
constexpr unsigned kManyFiles = 4096;  // are closed one by one where the kernel has no close_range()

// Files of ours must not stay open with the watch: a reader of our output waits for its end.
void CloseAllBut(int kept) {
  const auto close_range = [](unsigned first, unsigned last) {
    if (::syscall(SYS_close_range, first, last, 0) == 0) return;
    for (unsigned file = first; file <= last && file < kManyFiles; ++file) ::close(static_cast<int>(file));
  };
  const auto number = static_cast<unsigned>(kept);
  if (number > 0) close_range(0, number - 1);
  close_range(number + 1, ~0U);
}

// The watch's whole life, in the forked process.
[[noreturn]] void Watch(pid_t root, int life) {
  CloseAllBut(life);
  ::prctl(PR_SET_NAME, "gapless-watch");
  char byte = 0;
  ssize_t got = 0;
  do got = ::read(life, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got != 0) ::_exit(0);
  ProcessTree tree("/proc");
  size_t running = SignalTree(tree, root, SIGTERM);
  for (int poll = 0; poll < kWatchPolls && running > 0; ++poll) {
    std::this_thread::sleep_for(kWatchPoll);
    running = SignalTree(tree, root, 0);
  }
  SignalTree(tree, root, SIGKILL);
  ::_exit(0);
}

}  // namespace

size_t SignalTree(ProcessTree& tree, pid_t root, int signal) {
  tree.Refresh(root);
  size_t running = 0;
  for (const int64_t pid : tree.running())
    if (::kill(static_cast<pid_t>(pid), signal) == 0) ++running;
  return running;
}

LauncherWatch::LauncherWatch(pid_t root) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  // No signal reaches the watch, also not in its first moment: those of a terminal go to the whole group.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = ::fork();
  if (pid_ == 0) Watch(root, ends[0]);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[0]);
  if (pid_ < 0) ::close(ends[1]);
  if (pid_ > 0) life_ = ends[1];
}

LauncherWatch::~LauncherWatch() {
  if (pid_ <= 0) return;
  [[maybe_unused]] const ssize_t written = ::write(life_, "", 1);
  ::close(life_);
  ::waitpid(pid_, nullptr, 0);
}

LauncherWatch::LauncherWatch(LauncherWatch&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), life_(std::exchange(other.life_, -1)) {}

LauncherWatch& LauncherWatch::operator=(LauncherWatch&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(life_, other.life_);
  return *this;
}

}  // namespace gapless::internal
