// SPDX-License-Identifier: Apache-2.0
// Calls that Linux and macOS have under different names, or only one of them has. Rooms that read recordings use these,
// so that they compile for both; rooms that start and watch programs are for Linux alone.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace gapless::internal {

#ifdef __APPLE__
inline timespec ModifiedAt(const struct stat& status) { return status.st_mtimespec; }
inline void WillReadInOrder(int) {}
inline void UseHugePages(void*, size_t) {}
inline constexpr int kMapWithPages = 0;
inline int OpenInFolder(const char*) { return -1; }
inline size_t FindLastByte(std::string_view text, char byte) { return text.rfind(byte); }
inline int AllowedProcessors() { return 0; }
inline constexpr int kUsageOfThread = RUSAGE_SELF;
#else
// The time at which a file was last written.
inline timespec ModifiedAt(const struct stat& status) { return status.st_mtim; }
// Says that a file will be read from its beginning to its end.
inline void WillReadInOrder(int fd) { posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); }
// Asks for large pages for memory that will all be used.
inline void UseHugePages(void* at, size_t bytes) { madvise(at, bytes, MADV_HUGEPAGE); }
// Flag of mmap() for memory whose pages are there at once.
inline constexpr int kMapWithPages = MAP_POPULATE;
// Opens a file without a name in a folder, to read and write; -1 where its file system has none.
inline int OpenInFolder(const char* folder) { return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600); }
// The place of the last such byte; npos: there is none.
inline size_t FindLastByte(std::string_view text, char byte) {
  const void* at = memrchr(text.data(), byte, text.size());
  return at == nullptr ? text.npos : static_cast<size_t>(static_cast<const char*>(at) - text.data());
}
// The processors that this process may use; 0: not known.
inline int AllowedProcessors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}
// Whom getrusage() is asked for; macOS knows the whole process alone.
inline constexpr int kUsageOfThread = RUSAGE_THREAD;
#endif

}  // namespace gapless::internal
