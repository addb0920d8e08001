// SPDX-License-Identifier: Apache-2.0
// A program whose output is read line by line without ever waiting for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// Returns the executable that PATH gives for `program` (which may hold a '/'); "" if there is no such file.
std::string FindProgram(std::string_view program);

// A ChildLines runs one program at a time. For one thread.
class ChildLines {
 public:
  ChildLines() = default;
  ~ChildLines() { Stop(); }
  ChildLines(const ChildLines&) = delete;
  ChildLines& operator=(const ChildLines&) = delete;

  // Starts the program (argv[0] is a path) with its standard output on a pipe and without input or error output. False:
  // it could not be started. One that still runs is stopped first.
  bool Start(const std::vector<std::string>& argv);
  // The whole lines that have come since the last call; at the end of the output also a last one without its end.
  std::vector<std::string> Take();
  // Returns true if the output has ended or nothing was started.
  bool ended() const { return pipe_ < 0; }
  // Ends the program, at once.
  void Stop();

 private:
  int pipe_ = -1;
  pid_t pid_ = -1;
  std::string partial_;
};

}  // namespace gapless::internal
