// SPDX-License-Identifier: Apache-2.0
// Writes the stream of a process. Links in the place of the folder or the file are refused, because they lead out
// of the run; after a failed write all further records are counted as lost. The file is made with the first block,
// so a process that records nothing leaves no file.
//
// The number of lost records has its place at the beginning of the file from the start, since a full disk has no room
// for it at the end: a block of one record is overwritten in place, each time that a block is lost.
#include "inject/stream_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gapless::internal::inject {
namespace {

// A LossBlock is the first block of the file. Its size does not depend on the number: what follows the fields of its
// record is zero, and readers skip it.
struct LossBlock {
  explicit LossBlock(uint64_t lost_records) {
    payload[0] = static_cast<uint8_t>(wire::RecordType::kDropped);
    payload[1] = sizeof payload - 2;
    wire::PutVarint(wire::PutVarint(payload + 2, lost_records), static_cast<uint64_t>(wire::DropCause::kFailed));
    header = {.magic = wire::kBlockMagic,
              .payload_bytes = sizeof payload,
              .record_count = 1,
              .checksum = wire::Checksum(payload, sizeof payload),
              .cupti_ns = 0,
              .unix_ns = 0};
  }
  wire::BlockHeader header{};
  uint8_t payload[16] = {};
};
static_assert(sizeof(LossBlock) == sizeof(wire::BlockHeader) + 16 && wire::Padded(16) == 16);
static_assert(2 + wire::kMaxVarintBytes + 1 <= 16);  // type, length, count; the cause takes one byte

}  // namespace

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
  if (!failed_) return;
  lost_records_ += records;
  if (fd_ < 0 || bytes_written_ < sizeof(wire::FileHeader) + sizeof(LossBlock)) return;
  const LossBlock loss(lost_records_);
  (void)!pwrite(fd_, &loss, sizeof loss, sizeof(wire::FileHeader));
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
  const LossBlock loss(0);
  return WriteAll(&header, sizeof header) && WriteAll(&loss, sizeof loss);
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
