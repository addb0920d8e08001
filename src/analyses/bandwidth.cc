// SPDX-License-Identifier: Apache-2.0
#include "analyses/bandwidth.h"

#include <limits>

#include "trace/ids.h"

namespace gapless::internal {

double AlgorithmBandwidthGbps(int64_t bytes, int64_t dur_ns) {
  if (bytes == kAbsent || dur_ns <= 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(bytes) / static_cast<double>(dur_ns);  // bytes per ns are GB/s
}

double BusFactor(std::string_view kind, int32_t group_size) {
  if (group_size == kAbsent32 || group_size < 1) return std::numeric_limits<double>::quiet_NaN();
  const double share = (group_size - 1.0) / group_size;
  if (kind == "all_reduce") return 2 * share;
  if (kind == "all_gather" || kind == "reduce_scatter" || kind == "all_to_all") return share;
  if (kind == "broadcast" || kind == "reduce" || kind == "send" || kind == "recv") return 1;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gapless::internal
