// SPDX-License-Identifier: Apache-2.0
// Bottleneck: one thing that costs time, with its evidence and what to do about it.
//
// Texts may hold names from the recording, which are untrusted: escape them for where they go (a terminal, HTML).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gapless/export.h"

namespace gapless {

// The kind of resource or waiting that costs the time. Several rules may report the same kind.
enum class BottleneckType : uint8_t {
  kKernelEfficiency,
  kMemoryBandwidth,
  kDataLoading,
  kCpuGpuSync,
  kMultiGpuComm,
  kMemoryAllocation,
  kLaunchBound,
  kHostBound,
  kSmallBatch,
  kRecompilation,
  kIo,
  kStepVariation,
  kRecording  // the recording itself: a cold start, or work of the device is missing
};
GAPLESS_API std::string_view ToString(BottleneckType type);  // "KERNEL_EFFICIENCY" …

// One observation behind a bottleneck. `value` is absent if the sentence has no single number.
struct Evidence {
  std::string text{};  // one sentence with the numbers in it
  std::optional<double> value{};
  std::string unit{};           // unit of value
  std::string table{};          // an SQL table or analysis …
  std::vector<int64_t> rows{};  // … and ids of its rows (at most 20: the largest)
  std::string source{};         // "file:line" in the user's code; "function() (file)" where the line is not known
};

// One thing to do about a bottleneck. The gain of a bottleneck is that of its first recommendation.
struct Recommendation {
  std::string text;    // imperative, with the values found: "set num_workers=4 in train.py:41"
  std::string fix;     // item of `predict --what` that stands for it, "" when none
  std::string code;    // a line or two to paste
  std::string effort;  // "minutes", "hours", "days"
};

// Speedup factors of the whole step, bounds and expectation.
struct Gain {
  double low = 1, expected = 1, high = 1;
  double confidence = 0;  // 0–1
  // "replay": the recording replayed with the fix, an 80 % prediction interval; "amdahl": estimated from the affected
  // time.
  std::string method{};
  // On how many programs such fixes were tested on a machine of this kind (with a GPU, or without); absent: not asked.
  std::optional<int64_t> tested_programs{};
};

// A finding of one rule in one run, as a plain value: it refers to nothing, and outlives the run.
struct Bottleneck {
  std::string id;  // the rule's id
  BottleneckType type = BottleneckType::kKernelEfficiency;
  double severity = 0;  // 0–1; above 0.7 critical, from 0.4 a warning
  std::string title{};  // a line of the terminal report: what it is, with the cost
  std::string description{};
  std::optional<double> share_of_step{};  // 0–1
  std::vector<Evidence> evidence{};
  std::vector<Recommendation> recommendations{};
  // Gain of the fix after everything above it in the ranked list is fixed. Absent: unknown, or another bottleneck's fix
  // removes this one (cured_by).
  std::optional<Gain> gain{};
  // Id of a rule that claims the same time in more general terms. If both fire, their gains are not added.
  std::string part_of{};
  // The id of the bottleneck above it whose fix cures this one, too; "": it has a place of its own.
  std::string cured_by{};
  // Share of the recorded step that is left when all bottlenecks above are fixed; `gain` refers to it.
  double step_left = 1;
  // Names what the fix also removes, if it saves more than the affected time; else "".
  std::string also{};
  // Why it is the first to fix ("it costs most, takes minutes, changes no result"); "": another one is.
  std::string why_first{};
  // The fix makes another training of it, or needs other hardware: a choice beside the plan, which leaves it out.
  bool apart = false;
};

}  // namespace gapless
