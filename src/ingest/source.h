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

// One recording's bytes, which can be opened more than once.
class Source {
 public:
  virtual ~Source() = default;
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

// Is this a tar archive (perhaps compressed)? Decided by content.
bool IsTar(Source& source);

// Calls `visit` with a source for each regular member, in order, as the archive streams by. Opening a member while it
// is the current one costs nothing extra; opening it again later reads the archive anew up to there.
Result<void> ForEachTarMember(const std::string& path, const std::function<void(Source&)>& visit);

}  // namespace gapless::internal
