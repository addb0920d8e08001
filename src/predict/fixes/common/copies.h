// SPDX-License-Identifier: Apache-2.0
// Copies between host and device: which of them hold the host up, and how fast they could be.
//
// A copy from or to pageable memory goes through a buffer that the driver has pinned: the call copies there, piece by
// piece, and returns when the last piece is on its way (to the device) or has arrived (at the host). It blocks the host
// whether or not the program asked for non_blocking=True, so that nothing can overlap it until the memory is pinned.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyses/copy_kinds.h"
#include "predict/fix.h"

namespace gapless::internal {

// Copies of less than this go in one piece, and are not faster from pinned memory.
inline constexpr int64_t kMinStagedBytes = int64_t{64} * 1024;

// Returns true if the call of this operation still waits for it.
bool BlocksHost(const Trace& trace, const EdgeTimes& times, uint32_t op);

// Streams on which kernels run, by device and stream.
std::set<std::pair<int32_t, int64_t>> ComputingStreams(const Trace& trace);

// The rate at which pinned copies go, in GB/s.
struct PinnedRate {
  double little = 0, expected = 0, much = 0;
  bool is_recorded = false;  // true if measured on pinned copies in the same recording
};

// Rates of copies in one direction: the median of the recording's own pinned copies of 1 MiB or more. Without any, they
// go at the speed of the link, of which four fifths of 16 lanes of the device's PCIe generation can be used: what a
// copy through a buffer reached before says of the host's memory, and little of the link (2 to 10 GB/s where pinned
// copies reached 5 to 25). Six tenths of that are expected, all of it at most, and three tenths at least: links have
// fewer lanes, are shared, or hang on an older host (the medians of recorded pinned copies lie between 0.2 and 0.95).
// No copy gets slower. A device that is not in the table of devices gets 2.5 times the rate it had, 1.25 to 5 times.
class PinnedRates {
 public:
  explicit PinnedRates(const Trace& trace);
  // Returns the rate of a copy that goes at `gbps` from or to pageable memory.
  PinnedRate Of(bool to_device, double gbps) const;
  // The source of the rate where no pinned copy was recorded: an assumption of a prediction with it.
  std::string Source() const;

 private:
  std::optional<double> recorded_[2] = {};  // to the host, to the device
  std::optional<double> link_gbps_{};
};

}  // namespace gapless::internal
