// SPDX-License-Identifier: Apache-2.0
// Builds the sync table. A wait may be seen twice: as the host call that blocks and as the recorder's own row on the
// stream; both carry the correlation of the call and become one row.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "trace/derive.h"
#include "trace/merge.h"
#include "trace/order.h"

namespace gapless::internal {
namespace {

using Wait = SyncColumns<InWhole>;

bool SyncKindOf(ApiKind api, SyncKind& kind) {
  switch (api) {
    case ApiKind::kDeviceSync: kind = SyncKind::kDevice; return true;
    case ApiKind::kStreamSync: kind = SyncKind::kStream; return true;
    case ApiKind::kEventSync: kind = SyncKind::kEvent; return true;
    case ApiKind::kStreamWait: kind = SyncKind::kStreamWait; return true;
    case ApiKind::kBlockingMemcpy: kind = SyncKind::kImplicit; return true;
    default: return false;
  }
}

// Returns the waits in time order: the host's calls, each joined with the recorder's row of the same correlation,
// and rows without a call. What a call is its name says: recorders number the kinds differently.
std::vector<Wait> CollectWaits(const Trace& trace, std::vector<SyncRow>& recorded) {
  const SliceTable& slices = trace.slices;
  std::unordered_multimap<int64_t, size_t> by_correlation;
  for (size_t i = 0; i < recorded.size(); ++i)
    if (recorded[i].correlation != kAbsent) by_correlation.emplace(recorded[i].correlation, i);
  std::vector<bool> joined(recorded.size());
  std::vector<Wait> waits;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    SyncKind kind{};
    if (!SyncKindOf(slices.api[row], kind)) continue;
    Wait wait{.kind = kind, .slice = SliceId(row), .ts_ns = slices.ts_ns[row], .dur_ns = slices.dur_ns[row]};
    if (wait.kind != SyncKind::kStreamWait) wait.wait_ns = wait.dur_ns;
    const auto match =
        slices.correlation[row] == kAbsent ? by_correlation.end() : by_correlation.find(slices.correlation[row]);
    if (match != by_correlation.end() && !joined[match->second]) {
      const SyncRow& seen = recorded[match->second];
      joined[match->second] = true;
      wait.device = seen.device, wait.stream = seen.stream, wait.event = seen.event;
      wait.event_stream = seen.event_stream, wait.event_correlation = seen.event_correlation;
      if (wait.kind == SyncKind::kStreamWait) wait.wait_ns = seen.dur_ns;
    }
    waits.push_back(wait);
  }
  for (size_t i = 0; i < recorded.size(); ++i) {
    const SyncRow& seen = recorded[i];
    if (joined[i]) continue;
    waits.push_back({.kind = seen.kind,
                     .device = seen.device,
                     .stream = seen.stream,
                     .event = seen.event,
                     .event_stream = seen.event_stream,
                     .event_correlation = seen.event_correlation,
                     .ts_ns = seen.ts_ns,
                     .dur_ns = seen.dur_ns,
                     .wait_ns = seen.dur_ns});
  }
  std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.ts_ns < b.ts_ns; });
  return waits;
}

// GPU operations by end time, to find whose end let a wait go on.
class Ends {
 public:
  explicit Ends(const GpuOpTable& ops) : ops_(ops), order_(ops.size()) {
    for (uint32_t row = 0; row < ops.size(); ++row) order_[row] = row;
    StableOrder(order_, [&](uint32_t row) { return SortKey{End(row), 0}; });
  }
  // The last operation to end within the wait, on its stream if that is known (a wait for an event has none, or −1).
  // A wait that found the GPU done has none.
  GpuOpId Within(const Wait& wait) const {
    constexpr int kLookBack = 256;  // other streams' operations to skip
    const int64_t end = wait.ts_ns + wait.dur_ns;
    auto at =
        std::upper_bound(order_.begin(), order_.end(), end, [&](int64_t ts, uint32_t row) { return ts < End(row); });
    for (int i = 0; i < kLookBack && at != order_.begin(); ++i) {
      const uint32_t row = *--at;
      if (End(row) < wait.ts_ns) return {};
      if ((wait.stream < 0 || wait.kind == SyncKind::kDevice || ops_.stream[row] == wait.stream) &&
          (wait.device == kAbsent32 || ops_.device[row] == wait.device))
        return GpuOpId(row);
    }
    return {};
  }

 private:
  int64_t End(uint32_t row) const { return ops_.ts_ns[row] + ops_.dur_ns[row]; }
  const GpuOpTable& ops_;
  std::vector<uint32_t> order_;
};

// The meaning of an event: the operation that its stream had been given last when it was recorded.
class Recorded {
 public:
  explicit Recorded(const Trace& trace) : ops_(trace.gpu_ops) {
    const SliceTable& slices = trace.slices;
    for (uint32_t row = 0; row < slices.size(); ++row)
      if (slices.api[row] == ApiKind::kEventRecord && slices.correlation[row] != kAbsent)
        recorded_ns_.emplace(slices.correlation[row], slices.ts_ns[row]);
    if (recorded_ns_.empty()) return;
    for (uint32_t op = 0; op < ops_.size(); ++op)
      if (ops_.launch[op].valid())
        launched_[{ops_.device[op], ops_.stream[op]}].emplace_back(slices.ts_ns[ops_.launch[op].value], op);
    for (auto& [stream, launches] : launched_) std::sort(launches.begin(), launches.end());
  }
  GpuOpId Of(const Wait& wait) const {
    const auto recorded = recorded_ns_.find(wait.event_correlation);
    const auto stream = launched_.find({wait.device, wait.event_stream});
    if (wait.event_correlation == kAbsent || recorded == recorded_ns_.end() || stream == launched_.end()) return {};
    const auto after =
        std::lower_bound(stream->second.begin(), stream->second.end(), std::pair(recorded->second, uint32_t{0}));
    return after == stream->second.begin() ? GpuOpId() : GpuOpId(std::prev(after)->second);
  }

 private:
  const GpuOpTable& ops_;
  std::unordered_map<int64_t, int64_t> recorded_ns_{};                                           // by correlation
  std::map<std::pair<int32_t, int64_t>, std::vector<std::pair<int64_t, uint32_t>>> launched_{};  // by device and stream
};

}  // namespace

void FindSyncs(Trace& trace, std::vector<SyncRow> recorded) {
  std::vector<Wait> waits = CollectWaits(trace, recorded);
  if (!waits.empty()) {
    const Ends ends(trace.gpu_ops);
    const Recorded events(trace);
    for (Wait& wait : waits)
      wait.waited_gpu_op = wait.kind == SyncKind::kStreamWait ? events.Of(wait) : ends.Within(wait);
  }
  merging::FillFrom(waits, trace.syncs);
}

}  // namespace gapless::internal
