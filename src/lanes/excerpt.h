// SPDX-License-Identifier: Apache-2.0
// The part of a timeline that fits in a report: the whole recording from afar, and the slowest step close up.
#pragma once

#include "lanes/run_lanes.h"
#include "lanes/timeline.h"

namespace gapless::internal {

inline constexpr size_t kExcerptSpans = 16'000;

// Excerpts hold the recordings that are drawn (analyses/drawn_traces.h), without Python frames: half of `most` spans
// show all of the time, half the slowest step, each at the finest level that fits. No spans: nothing was recorded.
TimelineExcerpt ExcerptOf(Tables& tables, size_t most = kExcerptSpans);

}  // namespace gapless::internal
