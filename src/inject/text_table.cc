// SPDX-License-Identifier: Apache-2.0
// Implements the table of names: open addressing by a hash of the characters, with the pointer as a first guess. A
// name that was seen at its pointer before costs one comparison of its characters. Memory is mapped once: 8 MiB of
// texts, and tables of fixed size; pages cost nothing until they are touched. Of longer texts the beginning and the
// mark are kept, so that texts which differ only behind the beginning have numbers of their own.
#include "inject/text_table.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "inject/system_calls.h"

namespace gapless::internal::inject {
namespace {

// FNV over 8 bytes at a time; only for texts not seen at their pointer before.
uint64_t Hash(const char* text, size_t length) {
  uint64_t hash = 0xCBF29CE484222325U ^ length;
  size_t at = 0;
  for (; at + 8 <= length; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text + at, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  for (; at < length; ++at) hash = (hash ^ static_cast<uint8_t>(text[at])) * 0x100000001B3U;
  return hash ^ (hash >> 32);
}

void CopyCut(const char* text, size_t length, char* to) {
  const CutMark mark(text, length);
  std::memcpy(to, text, kMaxTextSize - mark.size);
  std::memcpy(to + kMaxTextSize - mark.size, mark.bytes, mark.size);
}

}  // namespace

CutMark::CutMark(const char* text, size_t length) {
  const int written = std::snprintf(bytes, sizeof bytes, "... (cut from %zu bytes, %016llx)", length,
                                    static_cast<unsigned long long>(Hash(text, length)));
  size = written > 0 ? static_cast<size_t>(written) : 0;
}

TextTable::~TextTable() {
  FreePages(slots_, kSlots * sizeof(Slot));
  FreePages(seen_, kSeen * sizeof(Seen));
  FreePages(arena_, kArenaBytes);
}

bool TextTable::Allocate() {
  slots_ = static_cast<Slot*>(AllocatePages(kSlots * sizeof(Slot)));
  seen_ = static_cast<Seen*>(AllocatePages(kSeen * sizeof(Seen)));
  arena_ = static_cast<char*>(AllocatePages(kArenaBytes));
  return slots_ != nullptr && seen_ != nullptr && arena_ != nullptr;
}

uint32_t TextTable::NumberOf(const char* text, bool& fresh) {
  fresh = false;
  if (text == nullptr || arena_ == nullptr) return 0;
  Seen& seen = seen_[(reinterpret_cast<uintptr_t>(text) >> 3) * 0x9E3779B1U % kSeen];
  if (seen.pointer == text && std::strcmp(seen.text, text) == 0) return seen.number;
  const size_t whole = std::strlen(text), length = std::min(whole, kMaxTextSize);
  if (count_ == kMaxTexts || arena_used_ + length + 1 > kArenaBytes) Forget();
  char* const copy = arena_ + arena_used_;
  if (whole > length) CopyCut(text, whole, copy);
  const char* const kept = whole > length ? copy : text;
  const auto hash = static_cast<uint32_t>(Hash(kept, length));
  Slot& slot = Find(kept, length, hash);
  if (slot.text == nullptr) {
    if (kept == text) std::memcpy(copy, text, length);
    copy[length] = '\0';
    arena_used_ += length + 1;
    slot = {copy, hash, next_++};
    ++count_;
    fresh = true;
  }
  seen = {text, slot.text, slot.number};
  return slot.number;
}

// Returns the slot of the text, or the free one where it belongs. The table is at most half full, so the search
// ends.
TextTable::Slot& TextTable::Find(const char* text, size_t length, uint32_t hash) {
  size_t at = hash % kSlots;
  for (;; at = (at + 1) % kSlots) {
    Slot& slot = slots_[at];
    if (slot.text == nullptr) return slot;
    if (slot.hash == hash && std::strncmp(slot.text, text, length) == 0 && slot.text[length] == '\0') return slot;
  }
}

void TextTable::Forget() {
  std::memset(slots_, 0, kSlots * sizeof(Slot));
  std::memset(seen_, 0, kSeen * sizeof(Seen));
  arena_used_ = 0, count_ = 0;
  ++generation_;
}

}  // namespace gapless::internal::inject
