// SPDX-License-Identifier: Apache-2.0
// The call is made by its number: its function came with glibc 2.25, and the program runs with 2.17. Kernels
// before 3.17, which have that glibc, lack the call and have the device.
#include "base/random_bytes.h"

#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <cerrno>

namespace gapless::internal {

bool FillWithRandom(std::span<std::byte> bytes) {
#ifdef SYS_getrandom
  long filled = 0;
  do filled = ::syscall(SYS_getrandom, bytes.data(), bytes.size(), 0);
  while (filled < 0 && errno == EINTR);
  if (filled == static_cast<long>(bytes.size())) return true;
#endif
  const int device = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (device < 0) return false;
  const ssize_t got = ::read(device, bytes.data(), bytes.size());
  (void)::close(device);
  return got == static_cast<ssize_t>(bytes.size());
}

}  // namespace gapless::internal
