// SPDX-License-Identifier: Apache-2.0
// The events that gapless adds: steps, idle gaps by cause, bottlenecks with their evidence, and counters made from the
// recording. All of it has a category that begins with "gapless", by which the reader leaves it out: it is never taken
// for work.
#pragma once

#include "analyses/timeline.h"
#include "convert/writers/chrome/rows.h"

namespace gapless::internal::chrome {

// Each function writes one kind of track, and returns false if it was stopped. They need job.input.tables and
// job.input.advice.
bool WriteSteps(const Job& job);
bool WriteCriticalPath(const Job& job);
bool WriteIdle(const Job& job);
bool WriteBottlenecks(const Job& job);
bool WriteOwnCounters(const Job& job);

// Threads of the process that holds all this.
inline constexpr int64_t kStepsTid = 1, kPathTid = 2, kIdleTid = 100, kBottleneckTid = 10'000;
inline constexpr std::string_view kOwnCategory = "gapless";

}  // namespace gapless::internal::chrome
