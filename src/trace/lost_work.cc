// SPDX-License-Identifier: Apache-2.0
// Finds launches without an operation in one pass over the host slices. Most recordings lose nothing, and have no
// captures to look up.
#include "trace/lost_work.h"

#include <algorithm>

#include "trace/captures.h"

namespace gapless::internal {
namespace {

// When any thread captured a graph; PyTorch launches into a capture from several threads.
class CaptureTimes {
 public:
  explicit CaptureTimes(const Trace& trace) {
    for (const std::vector<Capture>& of_thread : CapturesByThread(trace))
      for (const Capture& capture : of_thread) spans_.push_back({capture.start_ns, capture.end_ns});
    std::ranges::sort(spans_, {}, &Span::start_ns);
  }

  // Times must be asked for in ascending order.
  bool Holds(int64_t ts_ns) {
    for (; next_ < spans_.size() && spans_[next_].start_ns <= ts_ns; ++next_)
      until_ = std::max(until_, spans_[next_].end_ns);
    return ts_ns < until_;
  }

 private:
  struct Span {
    int64_t start_ns, end_ns;
  };
  std::vector<Span> spans_{};
  size_t next_ = 0;
  int64_t until_ = INT64_MIN;
};

bool RunsKernels(ApiKind api) { return api == ApiKind::kKernelLaunch || api == ApiKind::kGraphLaunch; }

}  // namespace

LostWork FindLostWork(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> has_op(slices.size());
  std::vector<uint8_t> name_has_op(trace.strings.size());
  int64_t last = INT64_MIN;
  for (const SliceId launch : trace.gpu_ops.launch) {
    if (!launch.valid()) continue;
    has_op[launch.value] = 1;
    name_has_op[static_cast<uint32_t>(slices.name[launch.value])] = 1;
    last = std::max(last, slices.ts_ns[launch.value]);
  }
  LostWork work;
  CaptureTimes captures(trace);
  for (uint32_t row = 0; row < slices.size() && slices.ts_ns[row] <= last; ++row) {
    if (!RunsKernels(slices.api[row]) || slices.correlation[row] == kAbsent) continue;
    if (name_has_op[static_cast<uint32_t>(slices.name[row])] == 0 || captures.Holds(slices.ts_ns[row])) continue;
    work.launches.emplace_back(row);
    work.is_lost.push_back(has_op[row] == 0);
  }
  return work;
}

int64_t OpsWithoutTime(const Trace& trace) {
  int64_t count = 0;
  const ReadStatsTable& stats = trace.read_stats;
  for (size_t row = 0; row < stats.size(); ++row)
    if (const std::string_view kind = trace.Text(stats.kind[row]); kind == kOpsWithoutTime || kind == kOverrunningOps)
      count += stats.count[row];
  return count;
}

}  // namespace gapless::internal
