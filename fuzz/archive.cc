// SPDX-License-Identifier: Apache-2.0
// Arbitrary files through the whole loader: gzip, Zstandard and tar around readers. The file lives in memory only.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "ingest/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("input", 0);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) return 0;
  (void)gapless::internal::LoadRun(std::vector<std::string>{"/proc/self/fd/" + std::to_string(fd)},
                                   {.use_cache = false, .threads = 1});
  close(fd);
  return 0;
}
