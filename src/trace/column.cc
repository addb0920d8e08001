// SPDX-License-Identifier: Apache-2.0
// Allocates the memory of columns: small ones from the heap, large ones as pages of their own, which go back to
// the system when the column is freed. On a virtual machine a page fault takes longer than parsing an
// event, so columns are huge pages, and segments come with their pages.
#include "trace/column.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "base/portable.h"

namespace gapless::internal {

std::shared_ptr<std::byte> AllocatePages(size_t bytes, bool used_at_once) {
  if (bytes == 0) return nullptr;
  // Small columns share the heap: a mapping costs a system call and at least a page.
  if (bytes < size_t{64} * 1024) {
    auto* heap = static_cast<std::byte*>(std::calloc(1, bytes));
    if (heap == nullptr) throw std::bad_alloc();
    return {heap, [](std::byte* p) { std::free(p); }};
  }
  const int with_pages = used_at_once ? kMapWithPages : 0;
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | with_pages, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  // A column is filled once from end to end: with huge pages that takes a five-hundredth of the page faults.
  if (bytes >= size_t{2} << 20) UseHugePages(pages, bytes);
  return {static_cast<std::byte*>(pages), [bytes](std::byte* p) { munmap(p, bytes); }};
}

}  // namespace gapless::internal
