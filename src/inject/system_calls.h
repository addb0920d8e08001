// SPDX-License-Identifier: Apache-2.0
// Memory and small files by plain system calls, so that nothing here meets the host program's allocator or streams.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace gapless::internal::inject {

// Pages come zeroed, and cost nothing until they are touched. Null: there is no memory.
inline void* AllocatePages(size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

inline void FreePages(void* pages, size_t bytes) {
  if (pages != nullptr) munmap(pages, bytes);
}

// Reads the first `size - 1` bytes of a file and ends them with a zero. Returns their number, 0 if it cannot be
// read.
size_t ReadSmallFile(const char* path, char* out, size_t size);
// Reads the first line, without its end. Returns false if there is no line.
bool ReadLine(const char* path, char* out, size_t size);

}  // namespace gapless::internal::inject
