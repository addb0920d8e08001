// SPDX-License-Identifier: Apache-2.0
// Sets how the program's allocator treats large blocks. For programs only: a library leaves this to the program that
// links it.
#pragma once

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace gapless::internal {

// Gives blocks of 4 MiB and more back to the system when they are freed. glibc starts with 128 KiB and raises that to
// the largest block that was freed (at most 32 MiB), after which the lists of an analysis stay in the arena of its
// thread: `analyze` on a recording of 1 GB then takes a fifth more memory. Costs the first touch of pages again, 3 to 8
// % of the time of a processor. To be called before there are threads.
inline void ReturnLargeBlocks() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

}  // namespace gapless::internal
