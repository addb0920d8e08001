// SPDX-License-Identifier: Apache-2.0
// The sentences for the notes of a Kineto trace.
#include "ingest/readers/kineto/notes.h"

#include <string_view>

#include "trace/lost_work.h"

namespace gapless::internal::kineto {
namespace {

// A NoteText is how a note is reported: its kind, how serious it is, and the sentence for the user.
struct NoteText {
  std::string_view kind;
  Severity severity;
  std::string_view text;
};
constexpr std::array<NoteText, static_cast<size_t>(Note::kCount)> kNoteTexts = {{
    {"unreadable_events", Severity::kError, "events that are no valid JSON were left out"},
    {"deep_events", Severity::kError, "events nested deeper than 64 levels, or never closed, were left out"},
    {"bad_times", Severity::kLoss, "events without a usable time, or that last over a day, were left out"},
    {kOpsWithoutTime, Severity::kLoss, kOpsWithoutTimeText},
    {"missing_durations", Severity::kLoss, "complete events without a duration were left out"},
    {"negative_durations", Severity::kLoss, "events with a negative duration count as length 0"},
    {"control_characters", Severity::kInfo, "events with control characters in their texts were cleaned"},
    {"invalid_utf8", Severity::kInfo, "events with invalid UTF-8 in their texts were cleaned"},
    {"stray_bytes", Severity::kError, "bytes between events that are no event were skipped"},
    {"recorder_spans", Severity::kInfo, "spans of the recorder itself are not part of the tables"},
    {"instants", Severity::kInfo, "instant markers are not part of the tables"},
    {"begin_end_events", Severity::kLoss, "begin and end events are not paired up and were left out"},
    {"other_phases", Severity::kInfo, "events of phases that carry no time were left out"},
    {"other_categories", Severity::kInfo, "slices of unknown categories are kept as category other"},
    {"gapless_annotations", Severity::kInfo, "what gapless added to a converted recording is not part of the tables"},
    {"counter_ranges", Severity::kLoss,
     "ranges of hardware counters (cuda_profiler_range) are not read: Nsight Compute's reports are"},
}};

}  // namespace

void Notes::Finish(TraceBuilder& builder) const {
  for (size_t i = 0; i < tallies_.size(); ++i)
    builder.Count(kNoteTexts[i].kind, kNoteTexts[i].severity, tallies_[i].count, tallies_[i].first_offset,
                  kNoteTexts[i].text);
}

}  // namespace gapless::internal::kineto
