// SPDX-License-Identifier: Apache-2.0
// The ring in which the agent inside a training process reports (python/gapless/agent/README.md is the contract; the
// Python side is python/gapless/agent/…/layout.py). Little-endian. Offsets are those of the page: static_asserts hold
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gapless::internal::wire {

inline constexpr std::string_view kRingMagic = "GAPLRING";
inline constexpr uint32_t kRingVersion = 1;
inline constexpr size_t kRingHeaderBytes = 4096;
inline constexpr size_t kRingRecordBytes = 64;
inline constexpr uint32_t kMaxRingRecords = uint32_t{1} << 20;
// More than any process writes: a header that says more lies.
inline constexpr uint64_t kMaxWritten = uint64_t{1} << 56;

enum class AgentRole : uint32_t { kTrains = 0, kLoads = 1 };
enum class AgentState : uint32_t { kRuns = 1, kEnded = 2, kOff = 3 };

struct RingHeader {
  char magic[8];
  uint32_t version, header_bytes, record_bytes;
  uint32_t capacity;  // 0: a file of records in order, saved from a ring
  int64_t pid, start_unix_ns;
  int32_t rank, world_size, local_rank, device;  // -1: none
  AgentRole role;
  AgentState state;
  uint64_t written, step, acknowledged;
  int64_t heartbeat_unix_ns;
  uint64_t cost_ns, hook_calls, drained;
  uint64_t launcher;  // whose it is where several launchers share a run folder; 0: of the first, or the only one
  char host[64], versions[64];
};
static_assert(offsetof(RingHeader, pid) == 24 && offsetof(RingHeader, role) == 56 &&
              offsetof(RingHeader, written) == 64 && offsetof(RingHeader, drained) == 112 &&
              offsetof(RingHeader, launcher) == 120 && offsetof(RingHeader, host) == 128 && sizeof(RingHeader) == 256);

enum class RecordKind : uint16_t {
  kStep = 1,
  kGpuStep,
  kWait,
  kLoss,
  kScale,
  kGc,
  kCompile,
  kSave,
  kMemory,
  kAck,
  kRecorder,
  kText,
  kMessage,
  kLoader,
  kItems,
  kFailure,
  kFix,
  kOptimizer,
  kCall,
  kDigest,
  kParity,
  kRollout,
  kEvaluation,
  kBeside,
  kMade,
  kProcess
};

struct RingRecord {
  uint64_t number;
  RecordKind kind;
  uint16_t flags;
  int32_t value;
  int64_t ts_ns, dur_ns, a, b;
  double x, y;
};
static_assert(sizeof(RingRecord) == kRingRecordBytes && offsetof(RingRecord, ts_ns) == 16 &&
              offsetof(RingRecord, x) == 48);

// Returns x or y as a whole number; -1 if it is outside 0 to 2^53 (a ring may hold anything).
constexpr int64_t WholeOf(double value) {
  constexpr double kLargest = int64_t{1} << 53;
  return value >= 0 && value <= kLargest ? static_cast<int64_t>(value) : -1;
}

// Returns the sum, saturated at the int64 limits.
constexpr int64_t SumOf(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

// Can it be: has it a time before the year 2116, a duration of less than two years, and a step that a process may have
// come to? So nobody who adds some of them up leaves the numbers there are. A text has none of these.
constexpr bool IsSound(const RingRecord& record) {
  constexpr int64_t kLatestNs = int64_t{1} << 62, kLongestNs = int64_t{1} << 55;
  if (record.kind == RecordKind::kText) return true;
  const bool has_time =
      record.ts_ns > 0 && record.ts_ns <= kLatestNs && record.dur_ns >= 0 && record.dur_ns <= kLongestNs;
  const bool has_step = record.a >= 0 && record.a <= static_cast<int64_t>(kMaxWritten);
  return has_time && (record.kind != RecordKind::kStep || has_step);
}

// Flags of kStep.
inline constexpr uint16_t kStepRecorded = 1, kStepInference = 2, kStepExplicit = 4, kStepSkipped = 8, kStepFirst = 16;
// Flag of kSave and kBeside: a thread that does not train did it, and no step waited for it.
inline constexpr uint16_t kInThread = 1;
// kText: the bytes from offset 16; `flags` counts them.
inline constexpr size_t kTextBytesAt = 16, kTextBytes = kRingRecordBytes - kTextBytesAt;
inline constexpr uint16_t kTextGoesOn = 0x8000;

}  // namespace gapless::internal::wire
