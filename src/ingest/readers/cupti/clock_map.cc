// SPDX-License-Identifier: Apache-2.0
// Keeps readings of both clocks that increase in both, and converts times by linear interpolation between them.
#include "ingest/readers/cupti/clock_map.h"

#include <algorithm>

#include "trace/ids.h"

namespace gapless::internal::cupti {
namespace {
constexpr int64_t kLatestNs = 4'000'000'000'000'000'000;  // the year 2096; far enough from where sums overflow
}

void ClockMap::Add(int64_t cupti_ns, int64_t unix_ns) {
  if (cupti_ns <= 0 || unix_ns <= 0 || cupti_ns > kLatestNs || unix_ns > kLatestNs) return;
  if (!readings_.empty() && (cupti_ns <= readings_.back().cupti_ns || unix_ns <= readings_.back().unix_ns)) return;
  readings_.push_back({cupti_ns, unix_ns});
}

int64_t ClockMap::ToUnix(uint64_t cupti_ns) const {
  if (cupti_ns == 0 || cupti_ns > static_cast<uint64_t>(kLatestNs)) return kAbsent;
  const auto at = static_cast<int64_t>(cupti_ns);
  if (readings_.empty()) return at;
  if (at < readings_[last_].cupti_ns || (last_ + 1 < readings_.size() && at >= readings_[last_ + 1].cupti_ns)) {
    const auto next = std::upper_bound(readings_.begin(), readings_.end(), at,
                                       [](int64_t ns, const Reading& reading) { return ns < reading.cupti_ns; });
    last_ = next == readings_.begin() ? 0 : static_cast<size_t>(next - readings_.begin()) - 1;
  }
  const Reading& before = readings_[last_];
  int64_t difference = before.unix_ns - before.cupti_ns;
  if (at > before.cupti_ns && last_ + 1 < readings_.size()) {
    const Reading& after = readings_[last_ + 1];
    const auto change = static_cast<double>((after.unix_ns - after.cupti_ns) - difference);
    difference += static_cast<int64_t>(change * static_cast<double>(at - before.cupti_ns) /
                                       static_cast<double>(after.cupti_ns - before.cupti_ns));
  }
  const int64_t unix_ns = at + difference;
  return unix_ns > 0 && unix_ns <= kLatestNs ? unix_ns : kAbsent;
}

}  // namespace gapless::internal::cupti
