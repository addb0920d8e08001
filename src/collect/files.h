// SPDX-License-Identifier: Apache-2.0
// Files of a run folder: written whole or not at all, read with a limit, made for their owner only.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// A Descriptor closes its file descriptor; -1: none. Movable, not copyable.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  // Returns the number and no longer closes it.
  int Release();

 private:
  int number_;
};

// Writes a file that appears complete under its name, replacing what was there; `mode` as for open(2). On an error
// nothing is replaced, and the temporary file is removed. Data are not flushed to the disk.
Result<void> WriteFileAtomically(const std::string& path, std::string_view content, mode_t mode = 0644);
// Returns at most `most` bytes of a file, such as those of /proc, whose size is not known before. Empty when it
// cannot be read.
std::string ContentOf(const std::string& path, size_t most = size_t{1} << 16);
std::string ContentOf(int file, size_t most);  // reads an open file from its position; empty also for -1
// Makes the folder and those above it; no error when it is there.
Result<void> MakeFolders(const std::string& path, mode_t mode = 0755);
// Returns the names in a directory, sorted, without "." and ".."; none when it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder);
std::vector<std::string> NamesIn(int folder);  // names of the files in an open directory
// "cannot open run/x: No such file or directory" as an error of the environment.
Unexpected SystemFailure(std::string_view what, const std::string& path, int error_number);
// The path made absolute against the current folder, nothing resolved.
std::string Absolute(const std::string& path);
// A TemporaryFolder is a new directory in $TMPDIR, else /tmp, that is removed with all that is in it when the
// object is destroyed.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make();
  static Result<TemporaryFolder> MakeIn(std::string_view folder);
  // One that nobody else can put another in place of: in the user's cache, $TMPDIR, /tmp or $XDG_RUNTIME_DIR, the first
  // of them that is safe.
  static Result<TemporaryFolder> MakeForCode();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};
// Nanoseconds of a POSIX clock.
int64_t ClockNs(clockid_t clock);
inline int64_t UnixNs() { return ClockNs(CLOCK_REALTIME); }

}  // namespace gapless::internal
