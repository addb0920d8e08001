// SPDX-License-Identifier: Apache-2.0
// Reads small files with plain system calls into the caller's memory.
#include "inject/system_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace gapless::internal::inject {

size_t ReadSmallFile(const char* path, char* out, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  size_t used = 0;
  while (fd >= 0 && used + 1 < size) {
    const ssize_t got = read(fd, out + used, size - 1 - used);
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  if (fd >= 0) close(fd);
  out[used] = '\0';
  return used;
}

bool ReadLine(const char* path, char* out, size_t size) {
  if (ReadSmallFile(path, out, size) == 0) return false;
  out[std::strcspn(out, "\n")] = '\0';
  return out[0] != '\0';
}

}  // namespace gapless::internal::inject
