// SPDX-License-Identifier: Apache-2.0
// Texts of a ring, put together from their pieces (python/gapless/agent/README.md). A ring may hold anything: of texts
// without end the newest are kept, which are those that the records behind them name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "wire/agent_ring.h"

namespace gapless::internal::wire {

class RingTexts {
 public:
  static constexpr size_t kMaxTexts = size_t{1} << 16, kMaxBytes = size_t{1} << 26;

  // Adds a record of kind kText; ignores other kinds.
  void Add(const RingRecord& record) {
    if (record.kind != RecordKind::kText) return;
    std::string& text = texts_[record.value];
    if (open_ != record.value) bytes_ -= text.size(), text.clear();
    const size_t size = std::min<size_t>(record.flags & ~kTextGoesOn, kTextBytes);
    if (text.size() + size <= kMaxTextBytes) {
      text.append(reinterpret_cast<const char*>(&record) + kTextBytesAt, size);
      bytes_ += size;
    }
    open_ = (record.flags & kTextGoesOn) != 0 ? record.value : 0;
    while (texts_.size() > kMaxTexts || bytes_ > kMaxBytes) Forget();
  }
  // Absent texts are empty.
  const std::string& operator[](int64_t id) const {
    static const std::string kNone;
    const auto found = texts_.find(id);
    return found == texts_.end() ? kNone : found->second;
  }
  size_t size() const { return texts_.size(); }

 private:
  static constexpr size_t kMaxTextBytes = size_t{1} << 14;  // maximum length of one text

  // Ids rise, so the lowest is the oldest.
  void Forget() {
    bytes_ -= texts_.begin()->second.size();
    texts_.erase(texts_.begin());
  }

  std::map<int64_t, std::string> texts_;
  int64_t open_ = 0;  // whose next piece is awaited; 0: none's
  size_t bytes_ = 0;
};

}  // namespace gapless::internal::wire
