// SPDX-License-Identifier: Apache-2.0
// Counts what reading a Kineto trace reports besides rows. One Notes object per thread.
#pragma once

#include <array>
#include <cstdint>

#include "trace/builder.h"

namespace gapless::internal::kineto {

// A Note is something that reading reports besides rows, each with a count and the byte offset of the first. The order
// is that of kNoteTexts.
enum class Note : uint8_t {
  kBadEvent,
  kDeepEvent,
  kBadTime,
  kOpWithoutTime,
  kMissingDuration,
  kNegativeDuration,
  kControlCharacters,
  kInvalidUtf8,
  kStray,
  kRecorderSpan,
  kInstant,
  kBeginEnd,
  kOtherPhase,
  kOtherCategory,
  kOwnAnnotation,
  kCounterRange,
  kCount
};

// A Notes object counts each kind of note, and keeps the offset of the first of each kind.
class Notes {
 public:
  void Add(Note note, uint64_t offset, int64_t count = 1) {
    Tally& tally = tallies_[static_cast<size_t>(note)];
    tally.count += count;
    const auto at = static_cast<int64_t>(offset);
    if (tally.first_offset == kAbsent || at < tally.first_offset) tally.first_offset = at;
  }
  // The notes that were added after BeginChunk() can be taken back.
  void BeginChunk() { before_ = tallies_; }
  void DropChunk() { tallies_ = before_; }
  // Adds a sentence for the user for each kind of note that was counted.
  void Finish(TraceBuilder& builder) const;

 private:
  struct Tally {
    int64_t count = 0;
    int64_t first_offset = kAbsent;
  };
  using Tallies = std::array<Tally, static_cast<size_t>(Note::kCount)>;
  Tallies tallies_{}, before_{};
};

}  // namespace gapless::internal::kineto
