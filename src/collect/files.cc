// SPDX-License-Identifier: Apache-2.0
// Reads files up to a limit, writes them atomically (temporary file and rename), and creates directories for their
// owner only. Reading grows its buffer as the bytes come, because files of /proc have no size.
#include "collect/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/strings.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

constexpr size_t kFirstRead = size_t{1} << 14;  // bytes: most files are smaller

std::vector<std::string> NamesAndClose(DIR* open) {
  std::vector<std::string> names;
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = other.Release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::Release() {
  const int number = number_;
  number_ = -1;
  return number;
}

Unexpected SystemFailure(std::string_view what, const std::string& path, int error_number) {
  return Fail(ErrorCode::kEnvironment, StrCat(what, ": ", std::generic_category().message(error_number)), path);
}

Result<void> WriteFileAtomically(const std::string& path, std::string_view content, mode_t mode) {
  return WriteFileIn(AT_FDCWD, path, path, content, mode);
}

std::string ContentOf(const std::string& path, size_t most) {
  return ContentOf(Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).get(), most);
}

std::string ContentOf(int file, size_t most) {
  std::string content;
  if (file < 0) return content;
  size_t size = 0;
  while (size < most) {
    if (size == content.size()) content.resize(std::min(most, std::max(kFirstRead, 2 * size)));
    const ssize_t got = ::read(file, content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  content.resize(size);
  return content;
}

// Only the last directory gets `mode`; those above it are made with the usual rights.
Result<void> MakeFolders(const std::string& path, mode_t mode) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return SystemFailure("cannot make the folder", path, errno);
  return {};
}

std::vector<std::string> NamesIn(const std::string& folder) { return NamesAndClose(::opendir(folder.c_str())); }

std::vector<std::string> NamesIn(int folder) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return again < 0 ? std::vector<std::string>() : NamesAndClose(::fdopendir(again));
}

// Does not resolve links: the user should see the path that he gave.
std::string Absolute(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (error) return path;
  std::string text = absolute.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Result<TemporaryFolder> TemporaryFolder::Make() {
  const char* base = std::getenv("TMPDIR");
  return MakeIn(base != nullptr && *base != 0 ? base : "/tmp");
}

Result<TemporaryFolder> TemporaryFolder::MakeIn(std::string_view folder) {
  std::string path = StrCat(folder, "/gapless-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr)
    return Fail(ErrorCode::kEnvironment, "no temporary folder can be made", path, "set TMPDIR");
  return TemporaryFolder(std::move(path));
}

// Tries several places; the first in which the new directory passes ChangeableByOthers() is taken.
Result<TemporaryFolder> TemporaryFolder::MakeForCode() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr || *value != '/' ? "" : value);
  };
  const std::string home = variable("HOME"), cache = variable("XDG_CACHE_HOME");
  // The cache first: where hosts share the homes, processes on other hosts find it, too.
  std::string caches = !cache.empty() ? cache : home.empty() ? "" : StrCat(home, "/.cache");
  // Not one of somebody else, whose home a `sudo` may have left us.
  if (!caches.empty() && !ChangeableByOthers(caches).empty()) caches.clear();
  if (!caches.empty()) (void)MakeFolders(StrCat(caches, "/gapless"), kOwnFolder);
  for (const std::string& base : {caches.empty() ? "" : StrCat(caches, "/gapless"), variable("TMPDIR"),
                                  std::string("/tmp"), variable("XDG_RUNTIME_DIR")}) {
    std::string path = StrCat(base, "/gapless-agent-XXXXXX");
    if (base.empty() || ::mkdtemp(path.data()) == nullptr) continue;
    if (ChangeableByOthers(path).empty()) return TemporaryFolder(std::move(path));
    ::rmdir(path.c_str());
  }
  return Fail(ErrorCode::kEnvironment, "there is no folder for the agent that nobody else on this machine can change",
              "", "set TMPDIR to a folder of your own (chmod 700), in which and above which nobody else can write");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

int64_t ClockNs(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace gapless::internal
