// SPDX-License-Identifier: Apache-2.0
// Counters made from the recording: how busy each device is and how much launched work waits, millisecond by
// millisecond, and the allocator's totals. A value is written where it changes, so their number is bounded by the
// recording's rows however long it lasts.
#include <algorithm>

#include "base/strings.h"
#include "convert/writers/chrome/own.h"

namespace gapless::internal::chrome {
namespace {

constexpr int64_t kBinNs = 1'000'000;

// A counter's value at the start of each bin, where it differs from the one before.
class Steps {
 public:
  Steps(const Job& job, std::string name, std::string_view unit, int64_t zero_ns)
      : job_(job), name_(std::move(name)), unit_(unit), zero_ns_(zero_ns) {}
  void Set(int64_t bin, double value) {
    if (value == last_) return;
    last_ = value;
    const int64_t ts = zero_ns_ + bin * kBinNs;
    if (!job_.Within(ts)) return;
    job_.out.Begin(Kind::kAnnotation, 'C', kOwnCategory).Name(name_).At({job_.places.own_pid, 0}, ts);
    job_.out.Arg(unit_, value).End();
  }
  int64_t BinOf(int64_t ts_ns) const { return (ts_ns - zero_ns_) / kBinNs; }
  int64_t StartOf(int64_t bin) const { return zero_ns_ + bin * kBinNs; }

 private:
  const Job& job_;
  const std::string name_;
  const std::string_view unit_;
  const int64_t zero_ns_;
  double last_ = -1;
};

// A BusyShare turns busy stretches into the share of each millisecond, 0–1, in one pass. A stretch of many full
// bins costs two values, not one per bin.
class BusyShare {
 public:
  explicit BusyShare(Steps steps) : steps_(std::move(steps)) {}
  // Stretches come in order.
  void Add(Interval busy) {
    if (busy.end <= busy.start) return;
    const int64_t first = steps_.BinOf(busy.start), last = steps_.BinOf(busy.end - 1);
    if (first != bin_) {
      Close();
      if (first > bin_ + 1) steps_.Set(bin_ + 1, 0);
      bin_ = first;
    }
    if (last == first) {
      busy_ns_ += busy.length();
      return;
    }
    busy_ns_ += steps_.StartOf(first + 1) - busy.start;
    Close();
    if (last > first + 1) steps_.Set(first + 1, 1);
    bin_ = last;
    busy_ns_ = busy.end - steps_.StartOf(last);
  }
  void Finish() {
    Close();
    steps_.Set(bin_ + 1, 0);
  }

 private:
  void Close() {
    steps_.Set(bin_, static_cast<double>(busy_ns_) / static_cast<double>(kBinNs));
    busy_ns_ = 0;
  }
  Steps steps_;
  int64_t bin_ = 0, busy_ns_ = 0;
};

// A device is busy where it has no idle gap; the gaps come ordered from the timeline.
void WriteBusy(const Job& job, const TraceTimeline& timeline) {
  const Interval window = timeline.window.span;
  for (const DeviceTimeline& device : timeline.devices) {
    BusyShare share(Steps(job, StrCat("GPU ", device.device, " busy"), "share", window.start));
    int64_t at = window.start;
    for (const IdleGap& gap : device.gaps) {
      share.Add({at, gap.span.start});
      at = gap.span.end;
    }
    share.Add({at, window.end});
    share.Finish();
  }
}

// The longest queue of each bin.
class QueueLength {
 public:
  explicit QueueLength(Steps steps) : steps_(std::move(steps)) {}
  void Change(int64_t ts_ns, int64_t by) {
    if (const int64_t bin = steps_.BinOf(ts_ns); bin != bin_) {
      steps_.Set(bin_, static_cast<double>(most_));
      if (bin > bin_ + 1) steps_.Set(bin_ + 1, static_cast<double>(length_));
      bin_ = bin;
      most_ = length_;
    }
    length_ += by;
    most_ = std::max(most_, length_);
  }
  void Finish() {
    steps_.Set(bin_, static_cast<double>(most_));
    steps_.Set(bin_ + 1, static_cast<double>(length_));
  }

 private:
  Steps steps_;
  int64_t bin_ = 0, length_ = 0, most_ = 0;
};

// Calls enter as they start; the first operation of each takes it out. An operation that seems to start before its call
// never waited.
void WriteQueue(const Job& job) {
  const GpuOpTable& ops = job.trace().gpu_ops;
  const SliceTable& slices = job.trace().slices;
  enum State : uint8_t { kNone, kToCome, kWaits, kOver };
  std::vector<State> states(slices.size(), kNone);
  for (const SliceId launch : ops.launch)
    if (launch.valid()) states[launch.value] = kToCome;
  QueueLength queue(Steps(job, "launched, not started", "launches", 0));
  size_t slice = 0;
  for (size_t op = 0; op < ops.size(); ++op) {
    for (; slice < slices.size() && slices.ts_ns[slice] <= ops.ts_ns[op]; ++slice) {
      if (states[slice] != kToCome) continue;
      states[slice] = kWaits;
      queue.Change(slices.ts_ns[slice], 1);
    }
    if (!ops.launch[op].valid()) continue;
    State& state = states[ops.launch[op].value];
    if (state == kWaits) queue.Change(ops.ts_ns[op], -1);
    state = kOver;
  }
  if (ops.size() > 0) queue.Finish();
}

// Writes the allocator's totals at each event that has them.
bool WriteMemory(const Job& job) {
  const MemoryEventTable& events = job.trace().memory_events;
  return ForRows(job, events.ts_ns, [&](size_t row) {
    if (events.total_allocated[row] == kAbsent) return;
    const bool host = events.device_type[row] == 0 || events.device[row] == kAbsent32;
    Events& out = job.out.Begin(Kind::kAnnotation, 'C', kOwnCategory);
    out.Name(host ? std::string("host memory") : StrCat("GPU ", events.device[row], " memory"));
    out.At({job.places.own_pid, 0}, events.ts_ns[row]).Arg("allocated", events.total_allocated[row]);
    out.Arg("reserved", events.total_reserved[row]).End();
  });
}

}  // namespace

bool WriteOwnCounters(const Job& job) {
  for (const TraceTimeline& timeline : job.input.tables->Timelines())
    if (timeline.of == &job.of) WriteBusy(job, timeline);
  WriteQueue(job);
  return WriteMemory(job);
}

}  // namespace gapless::internal::chrome
