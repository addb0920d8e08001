// SPDX-License-Identifier: Apache-2.0
// Files are read, not mapped: one that somebody cuts off meanwhile would end the process otherwise.
#include "ingest/random_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace gapless::internal {

bool FileBeginsWith(const std::string& path, std::string_view magic) {
  std::ifstream in(path, std::ios::binary);
  std::string head(magic.size(), '\0');
  return in.read(head.data(), static_cast<std::streamsize>(head.size())) && head == magic;
}

Result<std::string> ReadAll(Source& source) {
  constexpr size_t kPiece = size_t{1} << 20, kMost = size_t{8} << 30;
  GAPLESS_ASSIGN(auto stream, source.Open());
  std::string bytes;
  for (;;) {
    const size_t before = bytes.size();
    bytes.resize(before + kPiece);
    auto got = stream->Read(bytes.data() + before, kPiece);
    bytes.resize(before + (got ? *got : 0));
    if (!got || *got == 0) return bytes;
    if (bytes.size() > kMost)
      return Fail(ErrorCode::kInput, "more than 8 GiB when decompressed", source.path(), "decompress it into a file");
  }
}

Result<std::unique_ptr<RandomAccess>> RandomAccess::Open(Source& source, std::string_view magic) {
  std::unique_ptr<RandomAccess> input(new RandomAccess);
  struct stat about {};
  if (FileBeginsWith(source.path(), magic)) input->fd_ = ::open(source.path().c_str(), O_RDONLY | O_CLOEXEC);
  if (input->fd_ >= 0 && ::fstat(input->fd_, &about) == 0 && S_ISREG(about.st_mode)) {
    input->size_ = static_cast<uint64_t>(about.st_size);
    return input;
  }
  GAPLESS_ASSIGN(input->held_, ReadAll(source));
  input->size_ = input->held_.size();
  return input;
}

RandomAccess::~RandomAccess() {
  if (fd_ >= 0) ::close(fd_);
}

bool RandomAccess::Read(uint64_t offset, uint64_t size, std::string& bytes) const {
  if (offset > size_ || size > size_ - offset) return false;
  if (!held_.empty()) {
    bytes.assign(held_, offset, size);
    return true;
  }
  bytes.resize(size);
  for (uint64_t done = 0; done < size;) {
    const ssize_t got = ::pread(fd_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<uint64_t>(got);
  }
  return true;
}

}  // namespace gapless::internal
