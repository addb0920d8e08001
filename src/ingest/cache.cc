// SPDX-License-Identifier: Apache-2.0
// Implements the cache of read recordings: one column file per input, named by a 128-bit hash of the input's
// identity (path, size, time of change, a hash of both ends, schema of the columns).
//
// The cache only uses a directory that belongs to the user alone, and evicts the least recently used files. The
// time of change of a cache file is the time of its last use. A lookup reads 128 KiB of the input; storing lists
// the whole directory once. Nothing in the cache is locked: if two processes store the same key, the later file
// replaces the earlier one. Every failure (no home, full disk, damaged file) means that the recording is parsed
// again.
#include "ingest/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/portable.h"
#include "base/strings.h"
#include "ingest/trace_memory.h"
#include "trace/trace_file.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kDefaultBound = uint64_t{4} << 30;
constexpr int64_t kWorthwhileBytes = int64_t{1} << 20;  // smaller files parse in milliseconds
constexpr size_t kHashedBytes = size_t{64} * 1024;
constexpr std::string_view kSuffix = ".columns";

// Returns the size limit of the cache in bytes: GAPLESS_CACHE_BYTES, or the default if that is no number. 0 turns
// the cache off.
uint64_t Bound() { return BytesFromEnvironment("GAPLESS_CACHE_BYTES", kDefaultBound); }

// Returns the cache's directory; empty without an absolute XDG_CACHE_HOME or HOME. Relative values are ignored,
// because they would scatter caches over the directories that the user works in.
fs::path Folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') return fs::path(xdg) / "gapless";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "gapless";
  return {};
}

// Is it a folder of our own that nobody else can read or write? What others could put there would be used as ours.
bool IsPrivate(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info {};
  const bool ours = fstat(fd, &info) == 0 && info.st_uid == geteuid();
  // An older version, or a careless hand, left it open to others.
  const bool closed = ours && ((info.st_mode & 077) == 0 || fchmod(fd, 0700) == 0);
  close(fd);
  return closed;
}

// The folder, made for its owner alone where it is not there.
bool MakePrivate(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  return IsPrivate(folder);
}

// Returns the file's identity: its path, size, time of change, a hash of its first and last 64 KiB, and the schema
// of the columns. Returns "" for small files and for what is not a regular file. The ends show a file that was
// rewritten with the same size and time of change.
std::string FileIdentity(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat info {};
  std::string ends(2 * kHashedBytes, '\0');
  std::string identity;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= kWorthwhileBytes) {
    const ssize_t head = pread(fd, ends.data(), kHashedBytes, 0);
    const ssize_t tail =
        pread(fd, ends.data() + kHashedBytes, kHashedBytes, info.st_size - static_cast<off_t>(kHashedBytes));
    std::error_code error;
    if (head > 0 && tail > 0)
      identity = StrCat(fs::absolute(path, error).string(), '\n', info.st_size, '\n', ModifiedAt(info).tv_sec, '.',
                        ModifiedAt(info).tv_nsec, '\n', XXH3_64bits(ends.data(), ends.size()), '\n', TraceFileSchema());
  }
  close(fd);
  return identity;
}

// Removes cache files, least recently used first, until the rest is at most `bound` bytes. Temporary files of
// interrupted writers contain the suffix, too, and count.
void Evict(const fs::path& folder, uint64_t bound) {
  struct Kept {
    fs::path path;
    uint64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Kept> kept;
  uint64_t total = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const uint64_t bytes = entry.file_size(error);
    if (error || entry.path().string().find(kSuffix) == std::string::npos) continue;
    kept.push_back({entry.path(), bytes, entry.last_write_time(error)});
    total += bytes;
  }
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& old : kept) {
    if (total <= bound) break;
    if (fs::remove(old.path, error)) total -= old.bytes;
  }
}

}  // namespace

std::string CacheKey(const std::string& path) {
  if (Bound() == 0 || Folder().empty()) return {};
  const std::string identity = FileIdentity(path);
  if (identity.empty()) return {};
  const XXH128_hash_t hash = XXH3_128bits(identity.data(), identity.size());
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string name;
  for (const uint64_t half : {hash.high64, hash.low64})
    for (int shift = 60; shift >= 0; shift -= 4) name += kHex[half >> shift & 15U];
  return (Folder() / (name + std::string(kSuffix))).string();
}

std::shared_ptr<Trace> TakeFromCache(const std::string& key) {
  if (key.empty() || access(key.c_str(), R_OK) != 0 || !IsPrivate(Folder())) return nullptr;
  auto trace = MapTraceFile(key);
  if (!trace) {
    unlink(key.c_str());
    return nullptr;
  }
  utimensat(AT_FDCWD, key.c_str(), nullptr, 0);  // used now
  return std::make_shared<Trace>(std::move(*trace));
}

void PutIntoCache(const std::string& key, const Trace& trace) {
  const uint64_t bound = Bound(), bytes = MemoryBytes(trace);
  if (bytes > bound) return;
  if (!MakePrivate(Folder())) return;
  Evict(Folder(), bound - bytes);
  // Evicts first, so that the directory does not exceed the bound while the new file is written.
  if (!WriteTraceFile(trace, key)) return;
}

}  // namespace gapless::internal
