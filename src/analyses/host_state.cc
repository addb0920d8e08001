// SPDX-License-Identifier: Apache-2.0
// One pass over the slices, which are sorted by start with parents before children. Most slices do not change their
// thread's state (an operator inside an operator), and one byte per slice records it. Only slices with a higher-ranked
// state than their parent's are put on the thread's stack of open slices, from which its track is written.
#include "analyses/host_state.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>

#include "trace/marks.h"

namespace gapless::internal {
namespace {

constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();
constexpr int64_t kEndOfTime = std::numeric_limits<int64_t>::max();

// Open slices by state, each state with its own heap of ends: a recording whose slices overlap without nesting may have
// any number open at once, and each still costs the logarithm of that.
class TrackWriter {
 public:
  TrackWriter() { track_.push_back({kBeginning, SliceId(), HostState::kNone}); }

  void Open(int64_t start, int64_t end, SliceId slice, HostState state) {
    CloseUntil(start);
    Heap& heap = open_[static_cast<size_t>(state)];
    heap.push({end, slice});
    Emit(start);
  }

  HostTrack Finish() {
    CloseUntil(kEndOfTime);
    return std::move(track_);
  }

 private:
  struct OpenSlice {
    int64_t end;
    SliceId slice;
    friend bool operator>(const OpenSlice& a, const OpenSlice& b) {
      return a.end != b.end ? a.end > b.end : a.slice > b.slice;
    }
  };
  using Heap = std::priority_queue<OpenSlice, std::vector<OpenSlice>, std::greater<>>;  // the first to end on top

  void CloseUntil(int64_t ts) {
    while (true) {
      int64_t end = kEndOfTime;
      for (const Heap& heap : open_)
        if (!heap.empty()) end = std::min(end, heap.top().end);
      if (end == kEndOfTime || end > ts) return;
      for (Heap& heap : open_)
        while (!heap.empty() && heap.top().end == end) heap.pop();
      Emit(end);
    }
  }

  // From `start` on the strongest of what is open counts, of equals the one that ends first.
  void Emit(int64_t start) {
    HostStretch next{start, SliceId(), HostState::kNone};
    for (size_t state = open_.size(); state-- > 0;) {
      if (open_[state].empty()) continue;
      next.slice = open_[state].top().slice;
      next.state = static_cast<HostState>(state);
      break;
    }
    if (track_.back().start == start)
      track_.back() = next;
    else if (track_.back().slice != next.slice)
      track_.push_back(next);
  }

  HostTrack track_;
  std::array<Heap, static_cast<size_t>(HostState::kData) + 1> open_;
};

HostState OwnState(SliceCategory category, ApiKind api) {
  switch (category) {
    case SliceCategory::kRuntime:
    case SliceCategory::kDriver:
      if (IsBlockingSync(api) || api == ApiKind::kAlloc || api == ApiKind::kFree || api == ApiKind::kHostAlloc ||
          api == ApiKind::kHostFree)
        return HostState::kSync;
      return HostState::kLaunch;
    case SliceCategory::kOperator: return HostState::kLaunch;
    case SliceCategory::kAnnotation:
    case SliceCategory::kPython: return HostState::kHost;
    case SliceCategory::kOverhead:
    case SliceCategory::kOther: break;
  }
  return HostState::kNone;
}

// Returns, for each name id, 1 if the name marks data loading.
std::vector<uint8_t> DataLoadingNames(const StringPool& strings) {
  std::vector<uint8_t> is_data(strings.size());
  for (size_t id = 0; id < is_data.size(); ++id) is_data[id] = IsDataLoadingMark(strings[static_cast<StringId>(id)]);
  return is_data;
}

// Returns, for each row, 1 if it is an operator that computes on the host, or inside one. Such an operator holds no
// call to the device, and for at least half of its time one operator is at work by itself, for 1 ms or longer. Others
// without calls make views, one after the other: a part of launching.
std::vector<uint8_t> HostOperators(const Trace& trace) {
  constexpr int64_t kLongNs = 1'000'000;
  enum : uint8_t { kPlain = 0, kHostWork = 1, kHoldsCall = 2 };
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> of(slices.size(), kPlain);
  for (const SliceId op : trace.gpu_ops.op)
    if (op.valid()) of[op.value] = kHoldsCall;
  for (size_t row = slices.size(); row-- > 0;) {
    const SliceCategory category = slices.category[row];
    if (category == SliceCategory::kRuntime || category == SliceCategory::kDriver) of[row] = kHoldsCall;
    if (const SliceId parent = slices.parent[row]; of[row] == kHoldsCall && parent.valid())
      of[parent.value] = kHoldsCall;
  }
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const int64_t self_ns = slices.self_ns[row];
    if (self_ns < kLongNs) continue;
    for (SliceId at(row); at.valid(); at = slices.parent[at.value]) {
      const bool operates = slices.category[at.value] == SliceCategory::kOperator && of[at.value] != kHoldsCall;
      if (!operates || 2 * self_ns < slices.dur_ns[at.value]) break;
      of[at.value] = kHostWork;
    }
  }
  for (size_t row = 0; row < slices.size(); ++row) {
    const SliceId parent = slices.parent[row];
    if (of[row] == kPlain && parent.valid() && of[parent.value] == kHostWork) of[row] = kHostWork;
  }
  for (uint8_t& item : of) item = item == kHostWork;
  return of;
}

std::vector<int32_t> NumberLaunchingThreads(const Trace& trace, size_t& count) {
  std::vector<int32_t> track_of_thread(trace.threads.size(), -1);
  count = 0;
  const GpuOpTable& ops = trace.gpu_ops;
  for (size_t row = 0; row < ops.size(); ++row) {
    if (!ops.launch[row].valid()) continue;
    for (const SliceId slice : {ops.launch[row], ops.op[row]}) {
      if (!slice.valid()) continue;
      int32_t& track = track_of_thread[trace.slices.thread[slice.value].value];
      if (track < 0) track = static_cast<int32_t>(count++);
    }
  }
  return track_of_thread;
}

// The stronger of two tracks at each instant; a's where they are equal.
HostTrack Strongest(const HostTrack& a, const HostTrack& b) {
  HostTrack both;
  both.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  int64_t start = kBeginning;
  while (true) {
    const HostStretch& stronger = b[j].state > a[i].state ? b[j] : a[i];
    if (both.empty() || both.back().slice != stronger.slice || both.back().state != stronger.state)
      both.push_back({start, stronger.slice, stronger.state});
    const int64_t next_a = i + 1 < a.size() ? a[i + 1].start : kEndOfTime;
    const int64_t next_b = j + 1 < b.size() ? b[j + 1].start : kEndOfTime;
    start = std::min(next_a, next_b);
    if (start == kEndOfTime) return both;
    i += next_a == start;
    j += next_b == start;
  }
}

HostTrack StrongestOf(const std::vector<HostTrack>& tracks, size_t first, size_t last) {
  if (last - first == 0) return {{kBeginning, SliceId(), HostState::kNone}};
  if (last - first == 1) return tracks[first];
  const size_t middle = first + (last - first) / 2;
  return Strongest(StrongestOf(tracks, first, middle), StrongestOf(tracks, middle, last));
}

}  // namespace

HostTracks FlattenHostStates(const Trace& trace) {
  HostTracks tracks;
  size_t count = 0;
  tracks.track_of_thread = NumberLaunchingThreads(trace, count);
  if (count == 0) {
    tracks.all = StrongestOf({}, 0, 0);
    return tracks;
  }
  const std::vector<uint8_t> is_data = DataLoadingNames(trace.strings);
  const SliceTable& slices = trace.slices;
  const std::vector<uint8_t> on_host = HostOperators(trace);
  std::vector<HostState> state(slices.size(), HostState::kNone);
  std::vector<TrackWriter> writers(count);
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const int32_t track = tracks.track_of_thread[slices.thread[row].value];
    if (track < 0) continue;
    const HostState above = slices.parent[row].valid() ? state[slices.parent[row].value] : HostState::kNone;
    const bool data = is_data[static_cast<uint32_t>(slices.name[row])] != 0;
    HostState own = data ? HostState::kData : OwnState(slices.category[row], slices.api[row]);
    if (on_host[row] != 0 && own == HostState::kLaunch) own = HostState::kHost;
    state[row] = std::max(above, own);
    if (own <= above || slices.dur_ns[row] <= 0) continue;
    const int64_t start = slices.ts_ns[row];
    writers[static_cast<size_t>(track)].Open(start, start + slices.dur_ns[row], SliceId(row), own);
  }
  for (TrackWriter& writer : writers) tracks.tracks.push_back(writer.Finish());
  tracks.all = StrongestOf(tracks.tracks, 0, count);
  return tracks;
}

}  // namespace gapless::internal
