// SPDX-License-Identifier: Apache-2.0
// The work of a recording's devices over all of its time, in few rows: the same for a recording and for its summary,
// which holds them. The tables that hold roles of a job against each other (role_times.h) are made of them.
//
// A device's recorded time is cut into stretches that follow each other. Each is of one kind, so that any part of it
// can be told, until they are too many for a summary: then pauses below a length are joined with the work around them,
// and a part of such a stretch is taken to be like the whole. Pauses of kLeastRoleWaitNs are never joined.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "analyses/timeline.h"
#include "trace/sections.h"

namespace gapless::internal {

// Roles take turns in a job in tens of milliseconds at least; an interruption of work below this is none of a role.
inline constexpr int64_t kLeastRoleWaitNs = 5'000'000;

struct WorkStretch {
  Interval span{};
  std::array<int64_t, 3> work{};  // compute, exposed communication, exposed copies; operators of a process
  std::array<int64_t, kIdleCauses> idle{};
  int64_t busy() const { return work[0] + work[1] + work[2]; }
};

struct DeviceStretches {
  int32_t device = kAbsent32;  // kAbsent32: a process that uses none
  std::vector<WorkStretch> stretches{};
};

struct RecordedWork {
  Interval span{};                         // from the first to the last work, in the recording's own time
  std::vector<DeviceStretches> devices{};  // empty: nothing worked
};

// Returns the work of a recording, or the work that a summary holds.
RecordedWork WorkOfRecording(const RunTrace& of);

// Returns the stretches of a time, which may reach beyond the recorded one: there the device idles, and nobody knows
// why.
std::vector<WorkStretch> StretchesIn(const std::vector<WorkStretch>& all, Interval window);
// Moves stretches in time.
void Shift(std::vector<WorkStretch>& stretches, int64_t shift_ns);

// Joins pauses below ever longer lengths until there are at most `most` stretches, or no pause below kLeastRoleWaitNs.
void Coarsen(std::vector<WorkStretch>& stretches, size_t most);

void WriteWork(const RecordedWork& work, SectionWriter& to);

}  // namespace gapless::internal
