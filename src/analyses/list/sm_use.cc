// SPDX-License-Identifier: Apache-2.0
// The share of each device's multiprocessors that the kernels' grids can keep busy: an estimate from launch sizes, not
// a measurement. At each instant it is min(1, sum over the running kernels of blocks per multiprocessor), as the
// TensorBoard plugin estimates SM efficiency; its figure is `sm_efficiency`, over the whole window. Over the time of
// kernels alone it says whether they fill the device. Kernels that are too short to matter are for the launch rules, so
// there is a second figure of the long ones without communication, which holds few multiprocessors on purpose.
//
// One sweep over the operations, which are sorted by start; those that run are kept in a heap by end.
#include "analyses/rows/sm_use.h"

#include <queue>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::sm_use_analysis {
namespace {

constexpr int64_t kLongNs = 10'000;  // TraceLens calls kernels below 10 µs short

// The integral over time of min(1, Σ blocks), and the time in which anything ran.
class Sweep {
 public:
  explicit Sweep(Interval window) : window_(window) {}

  // Adds kernels, by ascending start.
  void Add(int64_t start, int64_t end, double blocks) {
    AdvanceTo(std::max(start, window_.start));
    running_.push({end, blocks});
    sum_ += blocks;
  }
  void Finish() { AdvanceTo(window_.end); }

  double used_ns = 0;
  int64_t busy_ns = 0;

 private:
  struct Running {
    int64_t end;
    double blocks;
    bool operator<(const Running& other) const { return end > other.end; }  // the first to end on top
  };

  void AdvanceTo(int64_t to) {
    while (!running_.empty() && running_.top().end <= to) {
      Count(running_.top().end);
      sum_ -= running_.top().blocks;
      running_.pop();
    }
    Count(to);
    if (running_.empty()) sum_ = 0;  // no rounding is carried on
  }
  void Count(int64_t to) {
    to = std::min(to, window_.end);
    if (to > now_ && !running_.empty()) {
      const int64_t from = std::max(now_, window_.start);
      if (to > from) {
        used_ns += std::min(1.0, sum_) * static_cast<double>(to - from);
        busy_ns += to - from;
      }
    }
    now_ = std::max(now_, to);
  }

  Interval window_;
  int64_t now_ = std::numeric_limits<int64_t>::min();
  double sum_ = 0;
  std::priority_queue<Running> running_;
};

void AddRow(const TraceTimeline& timeline, const DeviceTimeline& device, TableOf<SmUseRows>& table) {
  const GpuOpTable& ops = timeline.trace().gpu_ops;
  const Interval window = timeline.window.span;
  Sweep all(window), long_ones(window);
  double occupancy_time = 0, occupancy_ns = 0;
  int64_t kernel_ns = 0, known_ns = 0;
  for (const uint32_t row : device.rows) {
    const int64_t start = ops.ts_ns[row], end = start + ops.dur_ns[row];
    if (start >= window.end) break;
    if (ops.kind[row] != GpuOpKind::kKernel || end <= window.start) continue;
    const int64_t inside = std::min(end, window.end) - std::max(start, window.start);
    kernel_ns += inside;
    if (const auto occupancy = static_cast<double>(ops.occupancy_pct[row]); occupancy >= 0)
      occupancy_time += occupancy * static_cast<double>(inside), occupancy_ns += static_cast<double>(inside);
    const auto blocks = static_cast<double>(ops.blocks_per_sm[row]);
    if (!(blocks > 0)) continue;
    known_ns += inside;
    all.Add(start, end, blocks);
    if (ops.dur_ns[row] >= kLongNs && ops.op_class[row] != GpuOpClass::kCommunication)
      long_ones.Add(start, end, blocks);
  }
  all.Finish(), long_ones.Finish();
  auto row = table.Row(*timeline.of);
  row.Set("device", device.device).Set("occupancy_pct", occupancy_time / occupancy_ns);
  row.Set("coverage_share", ShareOf(known_ns, kernel_ns));
  if (known_ns > 0) {
    row.Set("sm_efficiency", all.used_ns / static_cast<double>(window.length()));
    row.Set("long_kernel_ns", long_ones.busy_ns);
    row.Set("long_unfilled_ns", long_ones.busy_ns - std::llround(long_ones.used_ns));
  }
  if (long_ones.busy_ns > 0) row.Set("long_sm_share", long_ones.used_ns / static_cast<double>(long_ones.busy_ns));
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<SmUseRows> table;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) AddRow(timeline, device, table);
  return table;
}

}  // namespace

ANALYSIS(sm_use) = AnalysisOf<SmUseRows>({.run = Compute});

}  // namespace gapless::internal::sm_use_analysis
