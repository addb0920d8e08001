// SPDX-License-Identifier: Apache-2.0
// Reads an agent's ring while the agent writes it, without a lock.
//
// A record is good when its number is the one expected and the writer cannot have come round to its place
// meanwhile: the header is read again after the records, and what lies a whole ring behind it is counted as lost.
// At most 16384 records are read at once, which bounds the memory. The agent never waits for the reader.
#include "collect/ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "collect/private_files.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxRecordsAtOnce = 16384;

bool ReadAt(int file, void* out, size_t size, uint64_t offset) {
  char* to = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = ::pread(file, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

// Returns true if the header is of this version and its sizes are possible: the file may be written by anyone.
bool IsSoundHeader(const wire::RingHeader& header) {
  return std::memcmp(header.magic, wire::kRingMagic.data(), wire::kRingMagic.size()) == 0 &&
         header.version == wire::kRingVersion && header.header_bytes == wire::kRingHeaderBytes &&
         header.record_bytes == wire::kRingRecordBytes && std::has_single_bit(header.capacity) &&
         header.capacity <= wire::kMaxRingRecords && header.written <= wire::kMaxWritten;
}

}  // namespace

Result<RingReader> RingReader::Open(const std::string& path, bool for_saving) {
  return OpenIn(AT_FDCWD, path, path, for_saving);
}

Result<RingReader> RingReader::OpenIn(int folder, const std::string& name, const std::string& path, bool for_saving) {
  Descriptor file = OpenPlainFile(folder, name, for_saving ? O_RDWR : O_RDONLY);
  if (!file) return SystemFailure("cannot open the agent's ring", path, errno);
  RingReader reader(path, std::move(file), for_saving);
  if (!reader.ReadHeader()) return Fail(ErrorCode::kInput, "this is no ring of an agent that is known here", path);
  return reader;
}

bool RingReader::ReadHeader() {
  wire::RingHeader header;
  struct stat facts {};
  if (!ReadAt(file_.get(), &header, sizeof header, 0) || !IsSoundHeader(header) || ::fstat(file_.get(), &facts) != 0)
    return false;
  const uint64_t bytes = wire::kRingHeaderBytes + uint64_t{header.capacity} * wire::kRingRecordBytes;
  if (static_cast<uint64_t>(facts.st_size) < bytes) return false;
  header_ = header;
  return true;
}

// Reads the records with the numbers from `first` to `last`, in two pieces where the ring wraps.
bool RingReader::ReadRange(uint64_t first, uint64_t last, std::vector<wire::RingRecord>& records) const {
  records.resize(last - first + 1);
  size_t done = 0;
  while (done < records.size()) {
    const uint64_t place = (first - 1 + done) % header_.capacity;
    const size_t count = std::min<size_t>(records.size() - done, header_.capacity - place);
    if (!ReadAt(file_.get(), &records[done], count * wire::kRingRecordBytes,
                wire::kRingHeaderBytes + place * wire::kRingRecordBytes))
      return false;
    done += count;
  }
  return true;
}

// The oldest number that is safe leaves out one place: the writer may be filling it just now.
bool RingReader::ReadNew(const OnRecord& on_record) {
  if (!ReadHeader()) return false;
  std::vector<wire::RingRecord> records;
  const uint64_t goal = header_.written;
  while (read_ < goal) {
    const uint64_t oldest = header_.written + 1 > header_.capacity ? header_.written + 2 - header_.capacity : 1;
    if (read_ + 1 < oldest) {
      lost_ += oldest - 1 - read_;
      read_ = oldest - 1;
      continue;
    }
    const uint64_t last = std::min<uint64_t>(goal, read_ + kMaxRecordsAtOnce);
    if (!ReadRange(read_ + 1, last, records) || !ReadHeader()) return false;
    for (const wire::RingRecord& record : records) {
      ++read_;
      const bool kept =
          record.number == read_ && read_ + header_.capacity > header_.written + 1 && wire::IsSound(record);
      if (kept)
        on_record(record);
      else
        ++lost_;
    }
  }
  if (for_saving_ && header_.drained != read_) {
    [[maybe_unused]] const ssize_t written =
        ::pwrite(file_.get(), &read_, sizeof read_, offsetof(wire::RingHeader, drained));
    header_.drained = read_;
  }
  return true;
}

bool IsAlive(int64_t pid) {
  return pid > 0 && pid <= INT32_MAX && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

}  // namespace gapless::internal
