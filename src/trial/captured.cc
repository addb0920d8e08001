// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end; what it prints goes into a file, so that nothing can fill a pipe.
#include "trial/captured.h"

#include <chrono>
#include <csignal>
#include <thread>

#include "base/stop_signal.h"
#include "base/strings.h"
#include "collect/child.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxCaptured = size_t{1} << 26;
constexpr auto kPoll = std::chrono::milliseconds(5);

}  // namespace

Result<Captured> RunCaptured(const std::vector<std::string>& argv, const std::string& folder) {
  GAPLESS_ASSIGN(const auto folder_for_output, TemporaryFolder::Make());
  const std::string path = StrCat(folder_for_output.path(), "/output");
  int failure = 0;
  ChildOptions options{.argv = argv, .environment = {{"GIT_TERMINAL_PROMPT", "0"}, {"GIT_OPTIONAL_LOCKS", "0"}}};
  options.output_path = path;
  options.working_folder = folder;
  options.ends_with_us = true;
  ::sigprocmask(SIG_SETMASK, nullptr, &options.mask);
  GAPLESS_ASSIGN(auto child, Child::Start(options, &failure));
  while (!child.Ended()) {
    std::this_thread::sleep_for(kPoll);
    if (StopSignal() != 0) child.End(StopSignal());
  }
  if (StopSignal() != 0) return Fail(ErrorCode::kInterrupted, "interrupted");
  Captured captured{*child.Ended(), ContentOf(path, kMaxCaptured)};
  while (!captured.text.empty() && captured.text.back() == '\n') captured.text.pop_back();
  return captured;
}

}  // namespace gapless::internal
