// SPDX-License-Identifier: Apache-2.0
// Copies what comes through a pipe into a file without a name. It waits with poll() and looks at the flag in between,
// so that Ctrl-C ends a reading from a silent pipe, too; a pipe of the file system is opened without waiting for a
// writer for the same reason.
#include "ingest/spool.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ingest/trace_memory.h"
#include "trace/mapped_file.h"

namespace gapless::internal {
namespace {

constexpr size_t kCopied = size_t{256} * 1024;  // bytes between two looks at the flag
constexpr int kBetweenLooksMs = 50;

// A descriptor that is closed with it, but for standard input.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string ShownName(const std::string& path) { return IsStandardInput(path) ? std::string(kStandardInput) : path; }

// Returns the number of bytes, 0 at the end.
Result<size_t> ReadBlock(int fd, std::vector<char>& block, const std::string& name, const std::atomic<bool>* cancel) {
  pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
  while (cancel == nullptr || !cancel->load()) {
    if (poll(&wanted, 1, kBetweenLooksMs) <= 0) continue;  // EINTR is a signal, after which the flag is looked at
    const ssize_t got = read(fd, block.data(), block.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR && errno != EAGAIN)
      return Fail(ErrorCode::kInput, StrCat("cannot read: ", std::strerror(errno)), name);
  }
  return Fail(ErrorCode::kInterrupted, "interrupted");
}

Unexpected CannotKeep(const std::string& name, const std::string& folder, int number) {
  return Fail(ErrorCode::kEnvironment, StrCat("cannot keep what comes in ", folder, ": ", std::strerror(number)), name,
              "set TMPDIR to a folder with room for it, or save it in a file and give that");
}

Result<void> WriteAll(int fd, const char* bytes, size_t size, const std::string& name, const std::string& folder) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotKeep(name, folder, errno);
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

// Copies what comes until its end.
Result<std::unique_ptr<Source>> Copied(int from, const std::string& name, const std::atomic<bool>* cancel,
                                       const std::function<void(uint64_t)>& progress) {
  const std::string folder = FolderOfLargeFiles();
  Descriptor kept(OpenNameless(folder));
  if (kept.get() < 0) return CannotKeep(name, folder, errno);
  std::vector<char> block(kCopied);
  uint64_t bytes = 0;
  while (true) {
    GAPLESS_ASSIGN(const auto got, ReadBlock(from, block, name, cancel));
    if (got == 0) break;
    GAPLESS_TRY(WriteAll(kept.get(), block.data(), got, name, folder));
    bytes += got;
    if (progress) progress(bytes);
  }
  return SourceOf({.fd = kept.Release(), .bytes = bytes}, name);
}

}  // namespace

bool IsStandardInput(std::string_view path) {
  return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
}

bool IsReadOnce(const std::string& path) {
  if (IsStandardInput(path)) return true;
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISCHR(info.st_mode));
}

Result<std::unique_ptr<Source>> Spool(const std::string& path, const std::atomic<bool>* cancel,
                                      const std::function<void(uint64_t)>& progress) {
  const std::string name = ShownName(path);
  const bool standard = IsStandardInput(path);
  const Descriptor from(standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (from.get() < 0 || fstat(from.get(), &info) != 0)
    return Fail(ErrorCode::kInput, standard ? "it is closed" : StrCat("cannot open: ", std::strerror(errno)), name,
                standard ? "pipe a recording into it" : "check the path");
  if (isatty(from.get()) != 0)
    return Fail(ErrorCode::kUsage, "a terminal is no recording", name,
                "pipe one into it: zcat trace.json.gz | gapless …");
  if (S_ISDIR(info.st_mode)) return Fail(ErrorCode::kInput, "is a folder, not a file", name);
  if (!S_ISREG(info.st_mode)) return Copied(from.get(), name, cancel, progress);
  const off_t at = lseek(from.get(), 0, SEEK_CUR);  // a program before may have read some of it
  const int own = fcntl(from.get(), F_DUPFD_CLOEXEC, 3);
  if (own < 0 || at < 0) return Fail(ErrorCode::kInput, StrCat("cannot open: ", std::strerror(errno)), name);
  const auto first = static_cast<uint64_t>(at), size = static_cast<uint64_t>(info.st_size);
  return SourceOf({.fd = own, .bytes = size > first ? size - first : 0, .first = first}, name);
}

}  // namespace gapless::internal
