// SPDX-License-Identifier: Apache-2.0
// Checks every directory on the way to a file: it is private if nobody but its owner and root can replace any
// part. Links are followed by hand, so that each target is checked as well.
//
// Example: /tmp/x/run, with /tmp as usual (sticky) and x of mode 0777 without the sticky bit. Anyone can rename
// x's entries, so "/tmp/x" is the answer. Paths are not normalised: "a/../b" goes through a, wherever that leads.
// After 40 links the path counts as changeable.
#include "collect/private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/random_bytes.h"
#include "base/strings.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kPart = ".part";
constexpr int kMaxTemporaryNames = 100, kMaxLinks = 40;
constexpr mode_t kByOthers = S_IWGRP | S_IWOTH;

bool IsOurs(const struct stat& facts) { return facts.st_uid == ::geteuid(); }

// In a user namespace that root has no number in (a container that a user made), what is root's has the number of
// nobody.
bool RootHasNoNumber() {
  const std::string map = ContentOf("/proc/self/uid_map");  // "number here, number outside, how many" a line
  for (const std::string_view line : Lines(map)) {
    const auto words = Words(line);
    if (words.size() == 3 && ToInt(words[1]) == 0) return false;
  }
  return !map.empty();
}

// Returns true if the file belongs to root, also where root is shown as nobody.
bool IsRoots(const struct stat& facts) {
  if (facts.st_uid == 0) return true;
  static const int64_t kNobody = RootHasNoNumber() ? ToInt(ContentOf("/proc/sys/kernel/overflowuid")).value_or(-1) : -1;
  return static_cast<int64_t>(facts.st_uid) == kNobody;
}

// Returns true if another user can change the target of this part of the path. For the `last` part, write access
// suffices.
bool Changeable(const struct stat& facts, bool last) {
  if (!IsOurs(facts) && !IsRoots(facts)) return true;
  if (S_ISLNK(facts.st_mode) || (facts.st_mode & kByOthers) == 0) return false;
  // With the sticky bit only the owner renames and removes what lies in a folder, and that owner is looked at next.
  return last || (facts.st_mode & S_ISVTX) == 0;
}

// Returns the first part of the path that somebody else can change, or "". What cannot be looked at counts as
// changeable.
std::string ChangeableOnTheWay(const std::string& path, int links) {
  if (links > kMaxLinks) return path;
  for (size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    std::string place = path.substr(0, end);
    struct stat facts {};
    if (::lstat(place.empty() ? "/" : place.c_str(), &facts) != 0) return place;
    if (Changeable(facts, end == std::string::npos)) return place;
    if (!S_ISLNK(facts.st_mode)) continue;
    std::error_code error;
    const auto target = std::filesystem::read_symlink(place, error);
    if (error) return place;
    // The path is not normalised: the system resolves "..".
    std::string found = ChangeableOnTheWay((std::filesystem::path(place).parent_path() / target).string(), links + 1);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

Descriptor OpenFolder(int folder, const std::string& name) {
  return Descriptor(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Each level is opened before the next one is made, so that nobody can put a link in between.
Result<Descriptor> MakeFolderIn(int folder, std::string_view below, const std::string& path) {
  Descriptor at(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  for (const std::string_view part : Split(below, '/')) {
    const std::string name(part);
    if (::mkdirat(at.get(), name.c_str(), kOwnFolder) != 0 && errno != EEXIST)
      return SystemFailure("cannot make the folder", path, errno);
    Descriptor next = OpenFolder(at.get(), name);
    if (!next) return SystemFailure("cannot open the folder", path, errno);
    if (WriterOf(next.get()) != FolderWriter::kNobodyElse)
      return Fail(ErrorCode::kEnvironment, "somebody else put a folder there", path, "name another with -o");
    at = std::move(next);
  }
  return at;
}

Descriptor MakeFileIn(int folder, const std::string& name, int flags) {
  return Descriptor(
      ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags, kOwnFile));
}

// Opens without blocking and looks afterwards: a pipe put in the file's place would otherwise hang the launcher.
Descriptor OpenPlainFile(int folder, const std::string& name, int flags) {
  // Without waiting for the other end of a pipe.
  Descriptor file(::openat(folder, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!file || (::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode))) return file;
  errno = EINVAL;
  return Descriptor();
}

bool WriteAll(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string TemporaryNameFor(const std::string& name) {
  uint64_t random = 0;
  if (!FillWithRandom(std::as_writable_bytes(std::span(&random, 1))))
    random = static_cast<uint64_t>(ClockNs(CLOCK_MONOTONIC));
  const size_t slash = name.rfind('/') + 1;  // 0 without a slash
  char number[17];
  (void)std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(random));
  return StrCat(name.substr(0, slash), ".", name.substr(slash), ".", number, kPart);
}

bool IsTemporaryName(std::string_view name) { return name.starts_with('.') && name.ends_with(kPart); }

// Tries another name if the random one is taken already.
Result<void> WriteFileIn(int folder, const std::string& name, const std::string& path, std::string_view content,
                         mode_t mode) {
  for (int attempt = 0; attempt < kMaxTemporaryNames; ++attempt) {
    const std::string temporary = TemporaryNameFor(name);
    const Descriptor file(
        ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file && errno == EEXIST) continue;
    if (!file) return SystemFailure("cannot write the file", path, errno);
    if (WriteAll(file.get(), content) && ::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0) return {};
    const int error = errno;
    ::unlinkat(folder, temporary.c_str(), 0);
    return SystemFailure("cannot write the file", path, error);
  }
  return SystemFailure("cannot write the file", path, EEXIST);
}

FolderWriter WriterOf(int folder) {
  struct stat facts {};
  if (::fstat(folder, &facts) != 0 || !IsOurs(facts)) return FolderWriter::kAnotherOwner;
  return (facts.st_mode & kByOthers) != 0 ? FolderWriter::kOthers : FolderWriter::kNobodyElse;
}

std::string ChangeableByOthers(const std::string& path) { return ChangeableOnTheWay(path, 0); }

}  // namespace gapless::internal
