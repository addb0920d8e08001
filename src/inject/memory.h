// SPDX-License-Identifier: Apache-2.0
// Memory straight from the system, so that nothing here meets the host program's allocator. Pages come zeroed, and cost
// nothing until they are touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace gapless::internal::inject {

inline void* AllocatePages(size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

inline void FreePages(void* pages, size_t bytes) {
  if (pages != nullptr) munmap(pages, bytes);
}

}  // namespace gapless::internal::inject
