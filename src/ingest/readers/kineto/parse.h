// SPDX-License-Identifier: Apache-2.0
// Parses chunks of events with simdjson. One EventParser per thread; the only place that sees simdjson's types.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/readers/kineto/chunks.h"
#include "ingest/readers/kineto/event_rows.h"

namespace gapless::internal::kineto {

class EventParser {
 public:
  // `exact`: chunks are known to be cut well, so one that is no sequence of whole events is broken: take what can be
  // had.
  EventParser(EventRows& rows, bool exact);
  ~EventParser();

  enum class Outcome : uint8_t {
    kDone,      // every event was taken or reported
    kMisCut,    // the chunk is no sequence of whole events: cut at the wrong place
    kTruncated  // last chunk: the input ends within the array
  };
  // Takes the events of a chunk. Of the last chunk, `rest` gets what stands behind the end of the array.
  Outcome Parse(Chunk& chunk, std::string& rest);

 private:
  struct Impl;
  bool ParseFast(Chunk& chunk, std::string& rest);
  Outcome ParseSlowly(const Chunk& chunk, std::string& rest);
  bool ParseOne(std::string_view event, uint64_t offset);
  bool ParseClean(std::string_view event, uint64_t offset);

  EventRows& rows_;
  const bool exact_;
  std::unique_ptr<Impl> impl_;
};

// The object around the events, with the events taken out: what the recorder says about itself, the process and the
// devices. Sets rank, world size, host and start in builder.info(); adds devices and environment. False when it is no
// valid JSON.
bool ParseShell(std::string_view json, TraceBuilder& builder, int64_t& base_time_ns);

// Control characters within strings become spaces and invalid UTF-8 "?", so that a strict parser takes the text.
struct Cleaned {
  std::string text;
  bool had_control = false, had_invalid_utf8 = false;
};
Cleaned Clean(std::string_view json);

}  // namespace gapless::internal::kineto
