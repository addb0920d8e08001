// SPDX-License-Identifier: Apache-2.0
// Maps files for reading only: a write through the mapping would end the program.
#include "trace/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/portable.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

// A file that somebody else can write could change while it is mapped, and holds what they like.
bool IsOursAlone(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return Fail(ErrorCode::kInput, StrCat("cannot open: ", std::strerror(errno)), path);
  auto mapped = Take(fd);
  if (!mapped) return Fail(ErrorCode::kInput, mapped.error().message, path);
  return mapped;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Take(int fd) {
  struct stat info {};
  errno = 0;
  void* at = fstat(fd, &info) == 0 && info.st_size > 0 && IsOursAlone(info)
                 ? mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0)
                 : MAP_FAILED;
  const bool lacks_memory = at == MAP_FAILED && errno == ENOMEM;
  close(fd);
  if (lacks_memory) throw std::bad_alloc();  // as for any other memory: the file itself is good
  if (at == MAP_FAILED) return Fail(ErrorCode::kInput, "cannot be mapped, or is not ours alone");
  return std::make_shared<const MappedFile>(static_cast<const std::byte*>(at), static_cast<size_t>(info.st_size));
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(data_), bytes_); }

void MappedFile::Forget() const { madvise(const_cast<std::byte*>(data_), bytes_, MADV_DONTNEED); }

int OpenNameless(const std::string& folder) {
  if (const int fd = OpenInFolder(folder.c_str()); fd >= 0) return fd;
  // Some file systems know no files without a name.
  std::string path = folder + "/gapless.XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0) unlink(path.c_str());
  return fd;
}

}  // namespace gapless::internal
