// SPDX-License-Identifier: Apache-2.0
// Implements StringPool: texts in blocks of 64 KiB, found by open addressing over XXH3. A pool over mapped views
// builds its index only when a text is interned. Texts never move, so views of them stay good while the pool
// lives. Each slot holds 32 bits of the hash, and texts are compared only when these agree.
#include "trace/string_pool.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace gapless::internal {
namespace {

constexpr size_t kBlockBytes = size_t{64} * 1024;
constexpr size_t kFirstSlots = 1024;

uint32_t HashOf(std::string_view text) { return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size())); }

}  // namespace

StringPool::StringPool() : views_(1) {}

StringPool StringPool::FromViews(std::vector<std::string_view> views, std::shared_ptr<const void> owner) {
  StringPool pool;
  pool.views_ = std::move(views);
  if (pool.views_.empty()) pool.views_.emplace_back();
  pool.owner_ = std::move(owner);
  return pool;
}

StringId StringPool::Intern(std::string_view text) {
  if (text.empty()) return StringId::kNone;
  if (slots_.empty()) BuildIndex();
  const uint32_t hash = HashOf(text);
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].id != 0; at = (at + 1) & mask)
    if (slots_[at].hash == hash && views_[slots_[at].id] == text) return StringId{slots_[at].id};
  const auto id = static_cast<uint32_t>(views_.size());
  views_.push_back(Store(text));
  slots_[at] = {hash, id};
  if (views_.size() * 2 > slots_.size()) Grow();
  return StringId{id};
}

StringId StringPool::Find(std::string_view text) const {
  if (text.empty()) return StringId::kNone;
  if (slots_.empty()) {
    const auto found = std::find(views_.begin(), views_.end(), text);
    return found == views_.end() ? StringId::kNone : StringId{static_cast<uint32_t>(found - views_.begin())};
  }
  const uint32_t hash = HashOf(text);
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].id != 0; at = (at + 1) & mask)
    if (slots_[at].hash == hash && views_[slots_[at].id] == text) return StringId{slots_[at].id};
  return StringId::kNone;
}

size_t StringPool::memory_bytes() const {
  return stored_bytes_ + views_.capacity() * sizeof(std::string_view) + slots_.capacity() * sizeof(Slot);
}

void StringPool::BuildIndex() {
  size_t size = kFirstSlots;
  while (size < views_.size() * 4) size *= 2;
  slots_.assign(size, {});
  for (uint32_t id = 1; id < views_.size(); ++id) {
    const uint32_t hash = HashOf(views_[id]);
    size_t at = hash & (size - 1);
    while (slots_[at].id != 0) at = (at + 1) & (size - 1);
    slots_[at] = {hash, id};
  }
}

void StringPool::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.id == 0) continue;
    size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].id != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::string_view StringPool::Store(std::string_view text) {
  if (text.size() > left_) {
    const size_t bytes = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    stored_bytes_ += bytes;
    free_ = blocks_.back().get();
    left_ = bytes;
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view stored(free_, text.size());
  free_ += text.size();
  left_ -= text.size();
  return stored;
}

}  // namespace gapless::internal
