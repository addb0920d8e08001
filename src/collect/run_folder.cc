// SPDX-License-Identifier: Apache-2.0
// Creates and opens run directories. A directory that others can write to is refused unless the user shares it:
// they could replace the agent that is loaded from it. A directory may vanish between making and opening it, when
// the launcher that made it gives up; then it is made again.
#include "collect/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/strings.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

constexpr int kMaxDefaultFolders = 100'000, kMaxVanished = 10;

// Returns the target of the user's own link; another user's link is not followed.
Result<std::string> Followed(const std::string& path, const std::string& name) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) return path;
  if (facts.st_uid != ::geteuid())
    return Fail(ErrorCode::kUsage, "this is a link that belongs to somebody else", name,
                "name the folder that it leads to");
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  if (error) return Fail(ErrorCode::kUsage, "this is a link that leads to no folder", name);
  return target.string();
}

// Returns an error with what to do if somebody besides the owner and root can write in the directory.
Result<void> CheckWriters(int folder, const std::string& path, const std::string& name) {
  switch (WriterOf(folder)) {
    case FolderWriter::kNobodyElse: break;
    case FolderWriter::kOthers:
      return Fail(ErrorCode::kUsage, "others can write in the folder for the run, and so change what is recorded in it",
                  name,
                  StrCat("chmod go-w ", ShellWord(path), "; or name another folder with -o, or add --shared-folder"));
    case FolderWriter::kAnotherOwner:
      return Fail(ErrorCode::kUsage, "the folder for the run belongs to somebody else, who can change what is in it",
                  name, "name another with -o, or use it as it is with --shared-folder");
  }
  return {};
}

}  // namespace

Result<RunFolder> RunFolder::Open(std::string path, std::string name, bool made, bool shared) {
  Descriptor folder = OpenFolder(AT_FDCWD, path);
  const int error = errno;
  if (!folder && error == ENOTDIR) return Fail(ErrorCode::kUsage, "this is a file, not a folder", name);
  if (!folder) return SystemFailure("cannot open the folder of the run", path, error);
  if (!shared) GAPLESS_TRY(CheckWriters(folder.get(), path, name));
  return RunFolder(std::move(path), std::move(name), made, std::move(folder));
}

Result<RunFolder> RunFolder::Make(std::string_view wanted, bool shared) {
  if (!wanted.empty()) {
    const std::string name(wanted);
    GAPLESS_ASSIGN(const auto path, Followed(Absolute(name), name));
    GAPLESS_TRY(MakeFolders(std::filesystem::path(path).parent_path().string()));
    for (int attempt = 1;; ++attempt) {
      const bool made = ::mkdir(path.c_str(), kOwnFolder) == 0;
      if (!made && errno != EEXIST) return SystemFailure("cannot make the folder of the run", path, errno);
      auto opened = Open(path, name, made, shared);
      // One that is gone again was that of a launcher whose command could not run.
      std::error_code error;
      const bool gone = !opened && !std::filesystem::exists(std::filesystem::symlink_status(path, error));
      if (!gone || attempt == kMaxVanished) return opened;
    }
  }
  for (int number = 1; number <= kMaxDefaultFolders; ++number) {
    const std::string name = number == 1 ? std::string(kDefaultRunFolder) : StrCat(kDefaultRunFolder, "-", number);
    const std::string path = Absolute(name);
    if (::mkdir(path.c_str(), kOwnFolder) == 0) return Open(path, name, true, shared);
    if (errno != EEXIST) return SystemFailure("cannot make the folder of the run", path, errno);
  }
  return Fail(ErrorCode::kEnvironment, "there are too many run folders here", "", "name one with -o");
}

// The dot at the end makes it a folder for whoever does not follow links.
std::string RunFolder::PathForProcesses() const {
  const std::string open = StrCat("/proc/", ::getpid(), "/fd/", descriptor(), "/.");
  if (ChangeableByOthers(path_).empty() || ::access(open.c_str(), X_OK) != 0) return path_;
  return open;
}

std::string RunFolder::MovedTo() const {
  struct stat ours {
  }, found{};
  if (::fstat(descriptor(), &ours) != 0) return "";
  const bool is_there = ::lstat(path_.c_str(), &found) == 0;
  if (is_there && found.st_dev == ours.st_dev && found.st_ino == ours.st_ino) return "";
  std::error_code error;
  const auto now = std::filesystem::read_symlink(StrCat("/proc/self/fd/", descriptor()), error);
  return error ? path_ : now.string();
}

bool RunFolder::IsGone() const {
  struct stat facts {};
  return ::fstat(descriptor(), &facts) != 0 || facts.st_nlink == 0;
}

bool RunFolder::IsEmpty() const {
  const std::vector<std::string> names = NamesIn(descriptor());
  return std::all_of(names.begin(), names.end(), IsTemporaryName);
}

}  // namespace gapless::internal
