// SPDX-License-Identifier: Apache-2.0
// The facts of a report around its events.
#pragma once

#include "ingest/readers/nsys/facts.h"
#include "ingest/readers/nsys_rep/container.h"
#include "ingest/readers/nsys_rep/events.h"
#include "trace/builder.h"

namespace gapless::internal::nsys_rep {

struct About {
  nsys::Facts facts{};
  Layouts layouts{};
  int64_t session_start_unix_ns = kAbsent;
  // The counts that the index states; kAbsent when it does not.
  int64_t events = kAbsent, texts = kAbsent, threads = kAbsent, generic = kAbsent;
  int64_t threads_found = 0;
  int64_t damaged = 0;  // messages
};

// Reads versions, texts, threads and GPUs; host and names go into the builder. `report` gives up its texts and must
// outlive the result.
void ReadAbout(Container& report, TraceBuilder& builder, About& about);

// Returns the time of the session's 0 in ns since 1970, or kAbsent. The first is how reports up to 2025 say it, in the
// header of the session; the second how they do since 2026.
int64_t StartFromOffsets(std::string_view session);
int64_t StartFromClocks(std::string_view conversions);

}  // namespace gapless::internal::nsys_rep
