// SPDX-License-Identifier: Apache-2.0
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

namespace gapless::internal {
namespace {

constexpr size_t kFirstRead = size_t{1} << 14;  // bytes: most files are smaller

bool WriteAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
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
  const std::string temporary = StrCat(path, ".", ::getpid(), ".tmp");
  const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file) return SystemFailure("cannot write the file", path, errno);
  if (!WriteAll(file.get(), content) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return SystemFailure("cannot write the file", path, error);
  }
  return {};
}

std::string ContentOf(const std::string& path, size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content;
  if (!file) return content;
  size_t size = 0;
  while (size < most) {
    if (size == content.size()) content.resize(std::min(most, std::max(kFirstRead, 2 * size)));
    const ssize_t got = ::read(file.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  content.resize(size);
  return content;
}

Result<void> MakeFolders(const std::string& path, mode_t mode) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return SystemFailure("cannot make the folder", path, errno);
  return {};
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

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
  std::string path = StrCat(base != nullptr && *base != 0 ? base : "/tmp", "/gapless-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr)
    return Fail(ErrorCode::kEnvironment, "no temporary folder can be made", path, "set TMPDIR");
  return TemporaryFolder(std::move(path));
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
