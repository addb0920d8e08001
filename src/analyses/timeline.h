// SPDX-License-Identifier: Apache-2.0
// The time of each device of a trace: what it computed, moved and waited for. Ledger, idle and other analyses read it,
// so it is worked out once per run (Tables::Timelines).
//
// A device is idle when no operation runs on any of its streams. Each idle gap [g0, g1) is cut into parts by what held
// up the operation that ended it. Let L be the call that launched that operation, from l to l_end on thread T:
//   [g0, l)           T had not come to launching it: the part is what T was doing (host_state.h). Where T had nothing
//                     stronger than a Python frame open, the strongest state of all launching threads counts, because
//                     the main thread waits while another one runs the backward pass, and the other way round.
//   [max(g0,l), l_end)   launch: the call is at work; sync for a copy that blocks or that the call stages from
//                     pageable memory.
//   [max(g0,l_end), g1)  launch, when it is no longer than the device needs to start an operation (kQueuedStartNs when
//                     it was queued before the gap began, kFreshStartNs when it was launched in the gap); else unknown:
//                     the operation waited for something that was not recorded.
// When the last recorded operation is over the states of all threads count. Operations without a launch: unknown.
// In recordings of more than kMaxAttributedDevices devices all is unknown.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyses/copy_kinds.h"
#include "analyses/host_state.h"
#include "analyses/intervals.h"
#include "analyses/window.h"
#include "trace/run.h"

namespace gapless::internal {

enum class IdleCause : uint8_t { kData, kLaunch, kSync, kHost, kUnknown };
inline constexpr size_t kIdleCauses = 5;
inline constexpr std::string_view kIdleCauseNames[kIdleCauses] = {"data", "launch", "sync", "host", "unknown"};

// A device starts a queued operation within 1–3 µs of the end of the one before; recorders add a few. HTA draws the
// same line at 30 µs on a single stream (consecutive_kernel_delay).
inline constexpr int64_t kQueuedStartNs = 10'000;
// From the end of a launch call to the start on an idle device: 5–20 µs bare, more under a recorder.
inline constexpr int64_t kFreshStartNs = 100'000;

// Each device idles through most of what the host does for all others, so parts grow with devices times calls. No host
// drives more devices from one process; a recording with more devices is cut into unknown parts only.
inline constexpr size_t kMaxAttributedDevices = 256;

struct IdlePart {
  int64_t start = 0;  // until the next part of the gap, or the gap's end
  SliceId slice;      // what was open on the host; not valid: nothing, or the device was what took the time
  IdleCause cause = IdleCause::kUnknown;
};

struct IdleGap {
  Interval span;            // clipped to the window
  GpuOpId previous, next;   // the operation whose end began it and the one whose start ended it; not valid: none
  uint32_t first_part = 0;  // into DeviceTimeline::parts
  uint32_t part_count = 0;
};

struct DeviceTimeline {
  int32_t device = 0;
  std::vector<uint32_t> rows;       // every row of gpu_op on this device, in time order
  size_t first = 0, last = 0;       // into rows: those that start in the window
  Intervals compute;                // kernels that are not communication
  Intervals communication;          // communication kernels
  Intervals copies;                 // copies and fills
  Intervals exposed_communication;  // communication without compute
  Intervals exposed_copies;         // copies without compute and communication
  std::vector<IdleGap> gaps;        // in the window, in order
  std::vector<IdlePart> parts;      // parts of the idle gaps, in order

  int64_t PartEnd(const IdleGap& gap, uint32_t part) const {
    return part + 1 < gap.first_part + gap.part_count ? parts[part + 1].start : gap.span.end;
  }
  // Returns the rows that start in the window. Analyses per device walk these, never the operations of all devices.
  std::span<const uint32_t> RowsInWindow() const { return std::span(rows).subspan(first, last - first); }
  IdleCause MainCause(const IdleGap& gap) const;  // the one with the largest part
};

struct TraceTimeline {
  const RunTrace* of = nullptr;
  Window window;
  std::vector<DeviceTimeline> devices;  // those with operations, by number

  const Trace& trace() const { return *of->trace; }
};

// `window` returns the AnalysedWindow of the trace. `beside`: what the host did is found by another thread meanwhile.
TraceTimeline MakeTimeline(const RunTrace& of, const std::function<Window()>& window, bool beside);

// Is `part` of `gap` idle time that belongs to a copy: the time in which the call that launched a large pageable copy,
// the operation that ends the gap, was at work? The calling thread moves the bytes itself, or waits until they are
// moved. Small copies are no matter of bytes, and of others the call waits for the device only: their time stays with
// the wait they are part of.
inline bool IsCopyAtWork(const Trace& trace, const IdleGap& gap, const IdlePart& part) {
  if (part.cause != IdleCause::kSync || !gap.next.valid()) return false;
  const GpuOpTable& ops = trace.gpu_ops;
  return IsPageable(ops.copy_kind[gap.next.value]).value_or(false) && part.slice == ops.launch[gap.next.value] &&
         ops.bytes[gap.next.value] > kSmallCopyBytes;
}

}  // namespace gapless::internal
