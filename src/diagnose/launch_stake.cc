// SPDX-License-Identifier: Apache-2.0
// Sums the idle time of launching from table launch_waits, without graph captures and without one-off calls.
#include "diagnose/launch_stake.h"

#include <algorithm>
#include <unordered_map>

#include "analyses/rows/launch_waits.h"
#include "analyses/rows/launches.h"
#include "analyses/rows/warm_up.h"

namespace gapless::internal {
namespace {

// Fewer launches in a recording of several steps are a program in which one call may well take most.
constexpr int64_t kLaunchesOfSteps = 16;
constexpr size_t kNoRow = static_cast<size_t>(-1);

// Sums one-off host work within the window for each device that waits meanwhile.
int64_t StartsNs(const WarmUpRows& warm_up, const LedgerView& ledger) {
  int64_t ns = 0;
  for (size_t row = 0; row < warm_up.rows(); ++row)
    if (warm_up.Text(row, "kind") != "capture")
      ns += warm_up.Int(row, "window_idle_ns") * ledger.DevicesOf(warm_up.Int(row, "trace"));
  return ns;
}

int64_t WaitOf(const LaunchWaitsRows& waits, size_t row) {
  return waits.Text(row, "kind") == "capture" ? 0 : waits.Int(row, "idle_ns");
}

std::unordered_map<int64_t, int64_t> CallsByTrace(const LaunchesRows& launches) {
  std::unordered_map<int64_t, int64_t> calls;
  for (size_t row = 0; row < launches.rows(); ++row) calls[launches.Int(row, "trace")] += launches.Int(row, "calls");
  return calls;
}

// Returns the row whose longest call takes more than half of a recording's affected time. `first`: of its rows, which
// follow each other.
size_t OneOffOf(const LaunchWaitsRows& waits, size_t first) {
  int64_t sum = 0, longest_ns = 0;
  size_t longest = kNoRow;
  const int64_t trace = waits.Int(first, "trace");
  for (size_t row = first; row < waits.rows() && waits.Int(row, "trace") == trace; ++row) {
    sum += WaitOf(waits, row);
    if (waits.Int(row, "call_ns") > longest_ns) longest_ns = waits.Int(row, "call_ns"), longest = row;
  }
  return 2 * longest_ns > sum ? longest : kNoRow;
}

}  // namespace

int64_t WithoutOneOff(const LaunchWaitsRows& waits, const LaunchStake& stake, size_t row) {
  const bool left_out = std::ranges::binary_search(stake.one_offs, row);
  return WaitOf(waits, row) - (left_out ? waits.Int(row, "call_ns") : 0);
}

LaunchStake CollectLaunchStake(const LaunchWaitsRows& waits, const LaunchesRows& launches, const WarmUpRows& warm_up,
                               const LedgerView& ledger) {
  LaunchStake stake;
  const bool one_step = ledger.step_rows == static_cast<int64_t>(ledger.devices.size());
  const std::unordered_map<int64_t, int64_t> calls = CallsByTrace(launches);
  int64_t seen = kAbsent;
  for (size_t row = 0; row < waits.rows(); ++row) {
    const int64_t trace = waits.Int(row, "trace");
    stake.ns += WaitOf(waits, row), stake.captured_ns += waits.Int(row, "idle_ns") - WaitOf(waits, row);
    if (trace == seen) continue;
    seen = trace;
    const auto its = calls.find(trace);
    if (!one_step && (its == calls.end() || its->second < kLaunchesOfSteps)) continue;
    if (const size_t one_off = OneOffOf(waits, row); one_off != kNoRow) stake.one_offs.push_back(one_off);
  }
  for (const size_t row : stake.one_offs) stake.one_off_ns += waits.Int(row, "call_ns");
  stake.start_ns = std::max<int64_t>(0, StartsNs(warm_up, ledger) - stake.one_off_ns);
  stake.ns = std::max<int64_t>(0, stake.ns - stake.one_off_ns - stake.start_ns);
  return stake;
}

}  // namespace gapless::internal
