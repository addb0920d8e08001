// SPDX-License-Identifier: Apache-2.0
// The control block through which the launcher asks the agents of a run for something (python/gapless/agent/README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gapless::internal::wire {

inline constexpr std::string_view kControlMagic = "GAPLCTRL";
inline constexpr uint32_t kControlVersion = 1;
inline constexpr size_t kControlHeaderBytes = 4096;
inline constexpr size_t kControlSlotBytes = 256;
inline constexpr uint32_t kControlSlots = 16;
inline constexpr size_t kControlBytes = kControlHeaderBytes + kControlSlots * kControlSlotBytes;
inline constexpr int64_t kStepNotAgreed = -1;

enum class AgentCommand : uint32_t { kRecord = 1, kFixOn, kFixOff, kStop, kMemory, kPython };

struct ControlHeader {
  char magic[8];
  uint32_t version, header_bytes, slot_bytes, slots;
  uint64_t sequence;     // sequence of the newest command; stored after its slot
  int64_t launcher_pid;  // as all below, of the launcher that made it
  int64_t started_unix_ns;
  int64_t ended_unix_ns;  // 0: not yet
  int64_t task;           // its number in `job`; -1: alone
  char host[64];
  char job[256];  // names the start of a job whose launchers may share the folder; empty: none
};
static_assert(offsetof(ControlHeader, sequence) == 24 && offsetof(ControlHeader, host) == 64 &&
              sizeof(ControlHeader) == 384);

struct ControlSlot {
  uint64_t sequence;
  AgentCommand command;
  uint32_t flags;
  int64_t at_step;  // kStepNotAgreed until the first rank that saw the command has said when
  int64_t argument;
  int64_t posted_unix_ns;
  char text[216];
};
static_assert(sizeof(ControlSlot) == kControlSlotBytes && offsetof(ControlSlot, text) == 40);

// The answer of an agent (RecordKind::kAck, `value`).
enum class Answer : int32_t { kDone = 0, kLate, kFailed, kUnknown, kDoesNotApply };

}  // namespace gapless::internal::wire
