// SPDX-License-Identifier: Apache-2.0
// A memory snapshot of PyTorch, taken out of its pickle.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/pickle.h"
#include "ingest/readers/torch_memory/places.h"
#include "ingest/source.h"
#include "trace/builder.h"
#include "trace/segments.h"

namespace gapless::internal::torch_memory {

enum class Action : uint8_t { kAlloc, kFree, kSegmentAlloc, kSegmentFree, kOom, kFreeRequested, kOther };

// `stack` is the row of the innermost frame.
struct Event {
  Action action = Action::kOther;
  Place place = Place::kUnknown;
  int16_t device = -1;  // set when the list that holds it is known; those that stay without one are to be left out
  StackId stack{};
  int64_t address = kAbsent, bytes = 0, stream = kAbsent;
  int64_t ts_ns = kAbsent;  // Unix time
};

struct Block {
  int32_t device = -1;  // as above, of the segment
  Place place = Place::kUnknown;
  StackId stack{};
  int64_t address = 0, bytes = 0, requested = kAbsent, segment = 0;
  std::string state{};
};

struct Snapshot {
  RowList<Event> events;  // in the order of the file, device by device; without requests to free
  std::vector<Block> blocks;
  std::vector<int64_t> reserved, active;  // bytes by device when the snapshot was taken; those in use as requested
  std::vector<std::pair<std::string, std::string>> settings;
  int64_t bad_rows = 0, requests = 0;  // requests to free, which say nothing that their completion does not
  bool has_times = true;
};

// Reads it; frames become rows of `builder`. What lacks an address or a size is counted and left out.
Result<Snapshot> ReadSnapshot(ByteStream& stream, TraceBuilder& builder, const std::atomic<bool>* cancel);

}  // namespace gapless::internal::torch_memory
