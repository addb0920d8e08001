// SPDX-License-Identifier: Apache-2.0
// Interned texts: each distinct text once, named by a StringId. Id 0 is the empty text and means "absent".
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "trace/ids.h"

namespace gapless::internal {

// A StringPool can be moved, not copied. Texts are never removed, and a view of one stays good while the pool
// lives.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  // Returns the id of `text`, which is added if it is new; kNone for the empty text. Constant time on average.
  StringId Intern(std::string_view text);
  // The id of `text` if it is in the pool, else kNone. Safe from several threads while none interns. Without an index
  // (a pool from a cache, into which nothing was interned) it looks through all texts.
  StringId Find(std::string_view text) const;
  std::string_view operator[](StringId id) const { return views_[static_cast<uint32_t>(id)]; }
  size_t size() const { return views_.size(); }
  // Bytes held by the texts and the index.
  size_t memory_bytes() const;

  // Takes texts that live in memory kept alive by `owner`, in id order, the empty text first. Used by the cache.
  static StringPool FromViews(std::vector<std::string_view> views, std::shared_ptr<const void> owner);

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = 0;  // 0: free (the empty text is never looked up by hash)
  };
  // Enters all texts into a new index, O(texts).
  void BuildIndex();
  void Grow();
  std::string_view Store(std::string_view text);

  std::vector<std::string_view> views_;
  std::vector<Slot> slots_;  // open addressing, power of two, at most half full; empty until the first Intern
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t left_ = 0;
  size_t stored_bytes_ = 0;
  std::shared_ptr<const void> owner_;
};

}  // namespace gapless::internal
