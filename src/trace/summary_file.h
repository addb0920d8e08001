// SPDX-License-Identifier: Apache-2.0
// The bytes of a summary (trace/summary.h); docs/formats/summary.md describes them.
//
// A head of fixed size, and sections (trace/sections.h) compressed by zstd: "recording" with the facts, "trace.<table>"
// for each table that has rows, "window_steps", "exposed", and "table.<analysis>". Behind them stand the events for
// replays, sections in a frame of their own. The head says the version, both lengths and a checksum. A version is
// raised when the meaning of something changes; sections and columns are added without. Every older version is read; a
// newer one is refused, with both numbers.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/cut.h"
#include "trace/sections.h"
#include "trace/summary.h"
#include "trace/trace.h"

namespace gapless::internal {

struct SummaryPlace;  // trace/summary_places.h

inline constexpr uint32_t kSummaryVersion = 1;
inline constexpr std::string_view kSummaryExtension = ".gapsum";
inline constexpr std::string_view kSummariesFolder = "summaries";  // of a run folder (docs/run_bundle.md)

// Returns true if bytes begin as a summary's do.
bool IsSummary(std::string_view head);

// Returns the checksum of the content of a summary of `bytes` bytes, which tells it from others. An error: of a newer
// version, cut off, or longer than it says.
Result<uint64_t> HeadOf(std::string_view head, uint64_t bytes);

// `trace` is light; `tables` holds the tables of analyses already, and `events` what WriteEvents made.
std::string WriteSummary(const Trace& trace, const TraceSummary& summary, SectionWriter tables,
                         std::string_view events);

// Returns the file of these sections, whatever they hold: what tests and fuzzing change has a head that fits.
std::string SealSummary(const std::string& sections, std::string_view events);

// Returns a trace as bytes for TraceSummary::events; `first`: the rows of the recording that are its first.
std::string WriteEvents(const Trace& trace, const IdBase& first);
// Returns the stretch of a summary's events. An error: it has none, or they are damaged.
Result<CutTrace> ReadEvents(const Trace& light);

// Returns the light trace, with its summary. An error: of a newer version, damaged, or cut off. `place`: where the
// bytes lie, so that tables and events need not be held; null: nowhere else.
Result<Trace> ReadSummary(std::string_view bytes, const SummaryPlace* place = nullptr);
// Returns the sections of a light trace. An error: the file has changed since.
Result<SectionReader> ReadSummaryTables(const Trace& light);

}  // namespace gapless::internal
