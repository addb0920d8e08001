// SPDX-License-Identifier: Apache-2.0
// The output of a command: standard output, or a file that appears only when it is complete.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/arguments.h"

namespace gapless::internal {

// One output. It is moved, never copied; used by one thread at a time.
class Output {
 public:
  // "" or "-": standard output. Otherwise a file is made beside `path` and takes its name in Commit(); without Commit()
  // it goes.
  static Result<Output> Open(std::string_view path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  // Returns false if nothing more can be written. If that is because a pipe's reader has gone, Commit() still succeeds.
  bool Write(std::string_view text);
  // The place it is written to until Close(), for a process that writes instead.
  int descriptor() const { return descriptor_; }
  // Ends writing; Commit() then only has to rename the file. With several outputs all can be complete before any
  // appears.
  Result<void> Close();
  Result<void> Commit();

 private:
  Output() = default;
  int descriptor_ = -1;
  std::string path_, temporary_;  // empty: standard output
  int failure_ = 0;               // errno of the first failed write
};

// A usage error when writing to `path` would replace one of the files that were read.
Result<void> RefuseInput(std::string_view path, std::span<const std::string> inputs);

// Writes `text` to the file (standard output for "" and "-") at once.
Result<void> WriteFile(std::string_view path, std::string_view text);

// Finishes a command by --json: prints the text; or prints the JSON instead; or prints the text and writes the JSON to
// the file. Returns exit status 0.
Result<int> PrintTextOrJson(const Arguments& arguments, const std::function<std::string()>& text,
                            const std::function<std::string()>& json);

}  // namespace gapless::internal
