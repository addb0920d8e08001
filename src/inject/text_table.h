// SPDX-License-Identifier: Apache-2.0
// Gives names numbers. A name is looked up for every kernel, so a look-up is short: the pointer finds the place, and
// one comparison of the characters proves it, since names may be freed and their memory used again. The table is
// bounded: when there is no more room, all names are forgotten, and each gets a new number when it comes again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/cupti_stream.h"

namespace gapless::internal::inject {

// Longer texts are cut to this size in bytes, with a mark at their end.
inline constexpr size_t kMaxTextSize = wire::kMaxTextBytes - wire::kMaxVarintBytes;

// A CutMark is the end of a text that was cut. Texts that begin alike differ in it by their length and hash.
struct CutMark {
  CutMark(const char* text, size_t length);
  char bytes[64];
  size_t size = 0;
};

class TextTable {
 public:
  static constexpr size_t kMaxTexts = 32768;
  static constexpr size_t kArenaBytes = size_t{8} * 1024 * 1024;

  TextTable() = default;
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;
  ~TextTable();

  bool Allocate();  // false: no memory

  // Returns the number of `text`, from 1; 0 for null, or when there is no memory. `fresh` is set when the text is
  // new: the caller then defines it in the stream. Not safe from several threads.
  uint32_t NumberOf(const char* text, bool& fresh);
  // Counts how often everything was forgotten: numbers kept elsewhere are stale when it changes.
  uint32_t generation() const { return generation_; }

 private:
  struct Slot {
    const char* text;  // null: free
    uint32_t hash;
    uint32_t number;
  };
  struct Seen {
    const char* pointer;
    const char* text;
    uint32_t number;
  };
  static constexpr size_t kSlots = kMaxTexts * 2;
  static constexpr size_t kSeen = 4096;

  // Empties the table, which clears about 1 MB; numbers go on from where they are.
  void Forget();
  Slot& Find(const char* text, size_t length, uint32_t hash);

  Slot* slots_ = nullptr;
  Seen* seen_ = nullptr;
  char* arena_ = nullptr;
  size_t arena_used_ = 0, count_ = 0;
  uint32_t next_ = 1, generation_ = 0;
};

}  // namespace gapless::internal::inject
