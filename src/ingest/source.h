// SPDX-License-Identifier: Apache-2.0
// Sources of bytes for readers: files, gzip and Zstandard streams, members of tar archives. Bytes come decompressed.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// A forward stream. Not thread-safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills at most `size` bytes of `out`; fewer only at the end or before an error. 0: the end. An error says where the
  // input broke; bytes delivered before it are good.
  virtual Result<size_t> Read(char* out, size_t size) = 0;
};

// A Source is one recording's bytes, which can be opened more than once. Streams must not outlive their source.
// Only bytes_taken() may be called by another thread while a stream is read.
class Source {
 public:
  virtual ~Source() = default;
  // Returns a stream from the first byte; an error if the file cannot be opened.
  virtual Result<std::unique_ptr<ByteStream>> Open() = 0;
  const std::string& path() const { return path_; }        // for messages; "archive.tar.gz!/member" inside an archive
  uint64_t stored_bytes() const { return stored_bytes_; }  // size on disk, 0 when unknown
  // Bytes on disk taken since the last opening: for progress.
  uint64_t bytes_taken() const { return bytes_taken_.load(std::memory_order_relaxed); }

 protected:
  std::string path_;
  uint64_t stored_bytes_ = 0;
  std::atomic<uint64_t> bytes_taken_{0};
};

// A file, decompressed by its first bytes (gzip, zstd), whatever its name says.
Result<std::unique_ptr<Source>> OpenFile(const std::string& path);

// An OpenedFile is a file that is open already, from its byte `first` on. Whoever it is given to closes it.
struct OpenedFile {
  int fd = -1;
  uint64_t bytes = 0, first = 0;
};
// The same over a file that may have no name; `name` stands in messages.
std::unique_ptr<Source> SourceOf(OpenedFile file, std::string name);

// Is this a tar archive (perhaps compressed)? Decided by content.
bool IsTar(Source& source);

// Calls `visit` with a source for each regular member, in order, as the archive streams by. Opening the current member
// costs nothing extra while no more than its first megabyte was read; after that the archive is read anew up to there.
// The member is only good during the call. Returns an error if the archive is cut off or damaged; members before that
// were visited.
Result<void> ForEachTarMember(Source& archive, const std::function<void(Source&)>& visit);

}  // namespace gapless::internal
