// SPDX-License-Identifier: Apache-2.0
// The causes of waits of device operations and blocking calls, from a recording: the order of streams, events between
// streams, and the usual times between a cause and its effect.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "predict/program.h"

namespace gapless::internal {

// device, stream
inline constexpr int64_t kStagingNs = 20'000;      // shorter calls do not feed a copy piece by piece
inline constexpr int64_t kThreadWaitNs = 500'000;  // R7: a thread that does nothing for longer waited for another one

using StreamKey = std::pair<int32_t, int64_t>;

struct DeviceOrder {
  std::vector<uint32_t> previous{};    // by operation: the one before it on its stream; kNoRowValue: none
  std::vector<uint32_t> op_of_call{};  // by slice: the operation a blocking call waited for; kNoRowValue: none
  // Slice → 1 if it waited for the operation's beginning, which ended after the call: the copy of a large pageable
  // batch, which the call feeds piece by piece.
  std::vector<uint8_t> feeds{};
  // Waits for events, as recorded or, where none were, by the order of the calls, by the stream that waits, in the
  // order of the calls: when the call was made, and the operation that the event stands for.
  std::map<StreamKey, std::vector<std::pair<int64_t, uint32_t>>> stream_waits{};
  bool waits_recorded = false;
  LoadingLaunches loading{};
  int64_t launch_ns = 0;        // from the beginning of a launch to the start on an idle stream: the least usual
  int64_t stream_ns = 0;        // between operations back to back on a stream: the median, 5 µs at most
  int64_t usual_launch_ns = 0;  // UsualLaunchNs
};

// A launch that counts and that came before the operation.
bool HasLaunch(const Trace& trace, const ProgramRows& program, uint32_t op);
DeviceOrder FindDeviceOrder(const Trace& trace, const ProgramRows& program);

}  // namespace gapless::internal
