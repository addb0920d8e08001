// SPDX-License-Identifier: Apache-2.0
// Writes an output to a temporary file beside its destination, and renames it when it is complete. Devices and pipes
// are written directly.
//
// A reader of the path sees the old file or the complete new one, never a part: rename(2) replaces a file atomically
// within a file system, which is why the temporary file lies beside its destination. The temporary name has the process
// id. It is remembered (base/temporaries.h) so that a process that is ended by a signal removes it. A pipe whose reader
// has gone is no failure: `gapless query … | head` must succeed.
#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/strings.h"
#include "base/temporaries.h"

namespace gapless::internal {
namespace {

std::string Why(int code) { return std::strerror(code); }

}  // namespace

// Opens nothing under the final name, unless that is a device or a pipe, so that a failure leaves an existing file as
// it was.
Result<Output> Output::Open(std::string_view path) {
  Output output;
  if (path.empty() || path == "-") {
    output.descriptor_ = STDOUT_FILENO;
    return output;
  }
  struct stat status {};
  output.path_ = path;
  const bool exists = stat(output.path_.c_str(), &status) == 0;
  // Refused here, as rename() onto a folder fails only when all the work is done.
  if (exists && S_ISDIR(status.st_mode))
    return Fail(ErrorCode::kUsage, "cannot write to a folder; the output must be a file", output.path_);
  if (exists && !S_ISREG(status.st_mode)) {  // a device or a named pipe is written to, never replaced
    output.descriptor_ = open(output.path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (output.descriptor_ < 0)
      return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", Why(errno)), output.path_);
    return output;
  }
  output.temporary_ = StrCat(path, ".part-", static_cast<int64_t>(getpid()));
  // Made anew: what a process of this number left is removed, and a link of somebody else is not written through.
  unlink(output.temporary_.c_str());
  output.descriptor_ = open(output.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (output.descriptor_ < 0) {
    output.temporary_.clear();
    return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", Why(errno)), output.path_);
  }
  RememberTemporary(output.temporary_);
  return output;
}

// The moved-from output owns neither descriptor nor file, so its destructor does nothing.
Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::exchange(other.path_, {})),
      temporary_(std::exchange(other.temporary_, {})),
      failure_(other.failure_) {}

Output::~Output() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  ForgetTemporary(temporary_);
}

// Writes everything or records the first failure, after which it does nothing. EAGAIN, which a pipe or a terminal in
// non-blocking mode gives, is no failure: the write is tried again.
bool Output::Write(std::string_view text) {
  while (failure_ == 0 && !text.empty()) {
    const ssize_t written = write(descriptor_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      failure_ = errno;
    }
  }
  return failure_ == 0;
}

// A failed close() is a failed write: some file systems report a full disk only then.
Result<void> Output::Close() {
  if (failure_ != 0 && failure_ != EPIPE) {
    return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", Why(failure_)),
                path_.empty() ? "standard output" : path_);
  }
  if (temporary_.empty() || descriptor_ < 0 || close(std::exchange(descriptor_, -1)) == 0) return {};
  return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", Why(errno)), path_);
}

Result<void> Output::Commit() {
  GAPLESS_TRY(Close());
  if (temporary_.empty()) return {};
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", Why(errno)), path_);
  }
  ForgetTemporary(temporary_);
  temporary_.clear();
  return {};
}

// Compares device and inode, so that links and different spellings of one path are recognised.
Result<void> RefuseInput(std::string_view path, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!path.empty() && std::filesystem::equivalent(path, input, error) && !error) {
      return Fail(ErrorCode::kUsage, "cannot write the output: it would replace an input", std::string(path),
                  "give another name");
    }
  }
  return {};
}

// A failed write is remembered by the output and returned by Commit().
Result<void> WriteFile(std::string_view path, std::string_view text) {
  GAPLESS_ASSIGN(auto output, Output::Open(path));
  output.Write(text);
  return output.Commit();
}

// Only the formats that are wanted are made: some take long.
Result<int> PrintTextOrJson(const Arguments& arguments, const std::function<std::string()>& text,
                            const std::function<std::string()>& json) {
  if (arguments.json) GAPLESS_TRY(WriteFile(*arguments.json, json()));
  if (!arguments.JsonToStdout()) GAPLESS_TRY(WriteFile("", text()));
  return 0;
}

}  // namespace gapless::internal
