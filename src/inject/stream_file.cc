// SPDX-License-Identifier: Apache-2.0
// Writes the stream of a process. Links in the place of the folder or the file are refused, because they lead out
// of the run; after a failed write all further records are counted as lost. The file is made with the first block,
// so a process that records nothing leaves no file.
#include "inject/stream_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gapless::internal::inject {

void StreamFile::Prepare(const char* run_folder, const Rank& rank, int64_t start_unix_ns) {
  rank_ = rank, start_unix_ns_ = start_unix_ns;
  const int size = rank.rank < 0 ? std::snprintf(folder_, sizeof folder_, "%s/main", run_folder)
                                 : std::snprintf(folder_, sizeof folder_, "%s/rank%lld", run_folder,
                                                 static_cast<long long>(rank.rank));
  failed_ = size < 0 || static_cast<size_t>(size) >= sizeof folder_;
}

void StreamFile::Write(const uint8_t* block, size_t bytes, uint32_t records) {
  if (!failed_ && fd_ < 0) failed_ = !Open();
  if (!failed_) failed_ = !WriteAll(block, bytes);
  if (failed_) lost_records_ += records;
}

void StreamFile::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  failed_ = true;
}

bool StreamFile::MakeFile(int folder) {
  for (int take = 1; fd_ < 0 && take < 1000; ++take) {
    char name[64];
    if (take == 1)
      (void)std::snprintf(name, sizeof name, "cupti-%d.gcs", getpid());
    else
      (void)std::snprintf(name, sizeof name, "cupti-%d-%d.gcs", getpid(), take);
    fd_ = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd_ < 0 && errno != EEXIST) return false;
  }
  return fd_ >= 0;
}

bool StreamFile::Open() {
  if (mkdir(folder_, 0700) != 0 && errno != EEXIST) return false;
  // A link in the place of the folder, or of the file, leads out of the run.
  const int folder = open(folder_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  const bool made = MakeFile(folder);
  close(folder);
  if (!made) return false;
  wire::FileHeader header{};
  std::memcpy(header.magic, wire::kCuptiMagic, sizeof header.magic);
  header.version = wire::kCuptiVersion;
  header.header_bytes = sizeof header;
  header.start_unix_ns = start_unix_ns_;
  header.pid = getpid();
  header.rank = rank_.rank;
  header.world_size = rank_.world_size;
  (void)gethostname(header.host, sizeof header.host - 1);
  return WriteAll(&header, sizeof header);
}

bool StreamFile::WriteAll(const void* bytes, size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t done = write(fd_, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done, size -= static_cast<size_t>(done), bytes_written_ += static_cast<uint64_t>(done);
  }
  return true;
}

}  // namespace gapless::internal::inject
