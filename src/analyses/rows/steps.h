// SPDX-License-Identifier: Apache-2.0
// Table steps, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct StepsRows : TypedRows<StepsRows> {
  static constexpr std::string_view kName = "steps";
  static constexpr std::string_view kHelp =
      "Training steps: host time, time until the device was done, how busy it was";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"step", kInt, "", "step number"},
      {"name", kText, "", "name as recorded"},
      {"ts_ns", kInt, "ns", "start of its window; for steps that were cut off, of its host span"},
      {"dur_ns", kInt, "ns", "length of its window: until host and device are done with it; NULL when cut off"},
      {"host_dur_ns", kInt, "ns", "length of its host span"},
      {"gpu_busy_ns", kInt, "ns", "time with an operation running, mean over the devices used; NULL without"},
      {"gpu_busy_share", kReal, "share", "of dur_ns"},
      {"complete", kInt, "", "1: recorded from start to end, and no warm-up (table set_aside)"},
      {"source", kText, "", "source of the step marks: profiler, annotation, agent, inferred"},
  };
};

}  // namespace gapless::internal
