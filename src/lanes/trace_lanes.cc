// SPDX-License-Identifier: Apache-2.0
// Order of the lanes: steps; of each device its states, its gaps, annotations and streams; the threads, that with most
// events first, each with its Python frames, its calls of the system and the samples of its stack below; counters;
// memory.
#include "lanes/trace_lanes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "lanes/device_states.h"
#include "lanes/placer.h"

namespace gapless::internal {
namespace {

// A lane that grows event by event.
struct GrowingLane {
  Placer placer{};
  std::vector<RowSpans> rows{};
  int64_t events = 0;

  void Add(uint32_t row, int64_t start, int64_t dur) {
    const size_t at = placer.Place(start, start + dur);
    if (at >= rows.size()) rows.resize(at + 1);
    rows[at].rows.push_back(row);
    ++events;
  }

  template <class Table>
  void MoveTo(Lane& lane, const Table& table, int64_t shift) {
    for (RowSpans& spans : rows) {
      spans.rows.shrink_to_fit();
      spans.ts = &table.ts_ns, spans.dur = &table.dur_ns, spans.shift = shift;
      lane.events.emplace_back(std::move(spans));
    }
    lane.about.events = events;
    lane.about.depth = static_cast<int64_t>(std::max<size_t>(1, lane.events.size()));
  }
};

Lane NewLane(LaneKind kind, std::string label) {
  Lane lane;
  lane.about.kind = kind, lane.about.label = std::move(label);
  return lane;
}

StateLine LineOf(std::vector<Span> spans) { return StateLine(OwnSpans<Span>{std::move(spans)}); }

// A counter keeps its value until the next sample; the last one, to the end of the recording.
Lane CounterLane(LaneKind kind, std::string label, std::string_view unit, std::vector<Swing> samples, int64_t end) {
  for (size_t i = 0; i < samples.size(); ++i) {
    Swing& sample = samples[i];
    sample.end = std::max(sample.start, i + 1 < samples.size() ? samples[i + 1].start : end);
    sample.longest = sample.end - sample.start;
  }
  Lane lane = NewLane(kind, std::move(label));
  lane.about.unit = unit;
  lane.about.events = static_cast<int64_t>(samples.size());
  lane.counters.emplace_back(OwnSpans<Swing>{std::move(samples)});
  return lane;
}

std::string ThreadLabel(const Trace& trace, uint32_t thread) {
  const std::string_view name = trace.Text(trace.threads.name[thread]);
  const std::string tid = StrCat(trace.threads.tid[thread]);
  if (name.empty()) return StrCat("thread ", tid);
  return name.find(tid) == std::string_view::npos ? StrCat(name, " (", tid, ")") : std::string(name);
}

// The usual pause between two samples of a thread: what a sample without a weight stands for. A thread that sleeps is
// not sampled, so threads that run say it, which have most pauses.
int64_t UsualPause(const SampleTable& samples, const std::vector<std::vector<uint32_t>>& threads) {
  std::vector<int64_t> pauses;
  for (const std::vector<uint32_t>& rows : threads)
    for (size_t i = 1; i < rows.size(); ++i) pauses.push_back(samples.ts_ns[rows[i]] - samples.ts_ns[rows[i - 1]]);
  if (pauses.empty()) return 0;
  const auto middle = pauses.begin() + static_cast<std::ptrdiff_t>((pauses.size() - 1) / 2);
  std::ranges::nth_element(pauses, middle);
  return *middle;
}

// Samples of one thread stand for their weight, else for the usual pause, and for no more than the time until the next.
std::vector<Span> SampledSpans(const SampleTable& samples, const std::vector<uint32_t>& rows, int64_t usual,
                               int64_t shift) {
  std::vector<Span> spans;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t start = samples.ts_ns[rows[i]], weight = samples.weight_ns[rows[i]];
    int64_t length = weight == kAbsent ? usual : std::max<int64_t>(0, weight);
    if (i + 1 < rows.size()) length = std::min(length, samples.ts_ns[rows[i + 1]] - start);
    spans.push_back({start + shift, start + shift + length, length, length, rows[i], 1});
  }
  return spans;
}

}  // namespace

// SystemOfThreads is what the system saw of each thread: its calls and samples. Those whose lanes are made are taken
// out.
struct TraceLanes::SystemOfThreads {
  struct One {
    GrowingLane calls{};
    std::vector<uint32_t> samples{};
  };
  std::map<int64_t, One> threads{};
  int64_t usual_pause = 0;

  explicit SystemOfThreads(const Trace& trace) {
    const OsCallTable& calls = trace.os_calls;
    for (uint32_t row = 0; row < calls.size(); ++row)
      threads[calls.tid[row]].calls.Add(row, calls.ts_ns[row], calls.dur_ns[row]);
    // Rows that stand for several have no time: profiles that only count are no timeline.
    for (uint32_t row = 0; row < trace.samples.size(); ++row)
      if (trace.samples.count[row] == kAbsent) threads[trace.samples.tid[row]].samples.push_back(row);
    std::vector<std::vector<uint32_t>> rows;
    for (const auto& [tid, thread] : threads) rows.push_back(thread.samples);
    usual_pause = UsualPause(trace.samples, rows);
  }
};

// A summary stands for a recording that is not here; its rows stand for others, and are no events.
TraceLanes::TraceLanes(const TraceTimeline& timeline)
    : timeline_(&timeline),
      end_of_work_ns_(timeline.of->trace->info.dur_ns + timeline.of->ts_shift_ns),
      end_ns_(end_of_work_ns_) {
  AddSteps();
  if (!of().trace->summary) {
    for (const DeviceTimeline& device : timeline.devices) {
      AddDevice(device);
      AddAnnotations(device);
      AddStreams(device);
    }
    AddThreads();
    AddCounters();
    AddMemory();
  }
  Finish();
}

void TraceLanes::AddSteps() {
  const StepTable& steps = of().trace->steps;
  GrowingLane growing;
  for (uint32_t row = 0; row < steps.size(); ++row)
    if (steps.dur_ns[row] >= 0) growing.Add(row, steps.ts_ns[row], steps.dur_ns[row]);
  if (growing.events == 0) return;
  growing.MoveTo(lanes_.emplace_back(NewLane(LaneKind::kSteps, "steps")), steps, of().ts_shift_ns);
}

void TraceLanes::AddDevice(const DeviceTimeline& device) {
  Lane& states = lanes_.emplace_back(NewLane(LaneKind::kDevice, StrCat("GPU ", device.device)));
  states.about.device = device.device, states.device = &device;
  std::vector<Span> spans = DeviceStates(device, of().ts_shift_ns);
  states.about.events = static_cast<int64_t>(spans.size());
  states.states.push_back(LineOf(std::move(spans)));
  if (device.gaps.empty()) return;
  std::vector<Span> gaps;
  for (uint32_t gap = 0; gap < device.gaps.size(); ++gap) {
    const Interval span = device.gaps[gap].span;
    const int64_t shift = of().ts_shift_ns, length = span.length();
    gaps.push_back({span.start + shift, span.end + shift, length, length, gap, 1});
  }
  Lane& idle = lanes_.emplace_back(NewLane(LaneKind::kIdle, StrCat("GPU ", device.device, " idle")));
  idle.about.device = device.device, idle.device = &device;
  idle.about.events = static_cast<int64_t>(gaps.size());
  idle.states.push_back(LineOf(std::move(gaps)));
}

void TraceLanes::AddStreams(const DeviceTimeline& device) {
  const GpuOpTable& ops = of().trace->gpu_ops;
  std::map<int64_t, GrowingLane> streams;
  for (const uint32_t row : device.rows) streams[ops.stream[row]].Add(row, ops.ts_ns[row], ops.dur_ns[row]);
  for (auto& [stream, growing] : streams) {
    Lane& lane = lanes_.emplace_back(NewLane(LaneKind::kStream, StrCat("stream ", stream)));
    lane.about.device = device.device, lane.about.stream = stream;
    growing.MoveTo(lane, ops, of().ts_shift_ns);
  }
}

void TraceLanes::AddAnnotations(const DeviceTimeline& device) {
  const GpuAnnotationTable& ranges = of().trace->gpu_annotations;
  GrowingLane growing;
  for (uint32_t row = 0; row < ranges.size(); ++row)
    if (ranges.device[row] == device.device) growing.Add(row, ranges.ts_ns[row], ranges.dur_ns[row]);
  if (growing.events == 0) return;
  Lane& lane = lanes_.emplace_back(NewLane(LaneKind::kAnnotations, StrCat("GPU ", device.device, " ranges")));
  lane.about.device = device.device;
  growing.MoveTo(lane, ranges, of().ts_shift_ns);
}

void TraceLanes::AddSystemOf(int64_t tid, const std::string& label, SystemOfThreads& threads) {
  const auto found = threads.threads.find(tid);
  if (found == threads.threads.end()) return;
  const Trace& trace = *of().trace;
  SystemOfThreads::One system = std::move(found->second);
  threads.threads.erase(found);
  const auto cover = [this](int64_t begin, int64_t end) {
    begin_ns_ = std::min(begin_ns_, begin), end_ns_ = std::max(end_ns_, end);
  };
  if (system.calls.events > 0) {
    Lane& lane = lanes_.emplace_back(NewLane(LaneKind::kCalls, label + ", system"));
    lane.about.tid = tid;
    for (const RowSpans& spans : system.calls.rows)
      for (const uint32_t row : {spans.rows.front(), spans.rows.back()}) {
        const int64_t start = trace.os_calls.ts_ns[row] + of().ts_shift_ns;
        cover(start, start + trace.os_calls.dur_ns[row]);
      }
    system.calls.MoveTo(lane, trace.os_calls, of().ts_shift_ns);
  }
  if (system.samples.empty()) return;
  Lane& lane = lanes_.emplace_back(NewLane(LaneKind::kSamples, label + ", samples"));
  lane.about.tid = tid, lane.about.events = static_cast<int64_t>(system.samples.size());
  std::vector<Span> spans = SampledSpans(trace.samples, system.samples, threads.usual_pause, of().ts_shift_ns);
  cover(spans.front().start, spans.back().end);
  lane.states.push_back(LineOf(std::move(spans)));
}

// Adds lanes of threads without a slice of their own.
void TraceLanes::AddRestOf(SystemOfThreads& system) {
  const ThreadTable& threads = of().trace->threads;
  while (!system.threads.empty()) {
    const int64_t tid = system.threads.begin()->first;
    const auto known = std::ranges::find(threads.tid, tid);
    std::string label = tid == kAbsent ? "process" : StrCat("thread ", tid);
    if (known != threads.tid.end())
      label = ThreadLabel(*of().trace, static_cast<uint32_t>(known - threads.tid.begin()));
    AddSystemOf(tid, label, system);
  }
}

void TraceLanes::AddThreads() {
  const Trace& trace = *of().trace;
  const SliceTable& slices = trace.slices;
  SystemOfThreads system(trace);
  std::vector<GrowingLane> growing(2 * trace.threads.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const size_t python = slices.category[row] == SliceCategory::kPython ? 1 : 0;
    const size_t at = 2 * size_t{slices.thread[row].value} + python;
    if (at < growing.size()) growing[at].Add(row, slices.ts_ns[row], slices.dur_ns[row]);
  }
  std::vector<uint32_t> order(trace.threads.size());
  for (uint32_t thread = 0; thread < order.size(); ++thread) order[thread] = thread;
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](size_t thread) { return growing[2 * thread].events + growing[2 * thread + 1].events; });
  for (const uint32_t thread : order) {
    for (const size_t python : {0, 1}) {
      GrowingLane& events = growing[2 * size_t{thread} + python];
      if (events.events == 0) continue;
      std::string label = ThreadLabel(trace, thread) + (python == 1 ? ", Python" : "");
      Lane& lane = lanes_.emplace_back(NewLane(LaneKind::kThread, std::move(label)));
      lane.about.tid = trace.threads.tid[thread];
      lane.thread = ThreadId(thread), lane.python = python == 1;
      events.MoveTo(lane, slices, of().ts_shift_ns);
    }
    if (growing[2 * size_t{thread}].events + growing[2 * size_t{thread} + 1].events > 0)
      AddSystemOf(trace.threads.tid[thread], ThreadLabel(trace, thread), system);
  }
  AddRestOf(system);
}

void TraceLanes::AddCounters() {
  const Trace& trace = *of().trace;
  const CounterTable& counters = trace.counters;
  std::map<std::pair<std::string_view, int32_t>, std::vector<uint32_t>> rows;
  for (uint32_t row = 0; row < counters.size(); ++row)
    rows[{trace.Text(counters.name[row]), counters.device[row]}].push_back(row);
  for (const auto& [key, samples] : rows) {
    std::vector<Swing> swings;
    for (const uint32_t row : samples)
      swings.push_back({counters.ts_ns[row] + of().ts_shift_ns, 0, 0, counters.value[row], counters.value[row], 1});
    const bool on_device = key.second != kAbsent32;
    Lane& lane = lanes_.emplace_back(
        CounterLane(LaneKind::kCounter, on_device ? StrCat("GPU ", key.second, " ", key.first) : std::string(key.first),
                    trace.Text(counters.unit[samples.front()]), std::move(swings), end_ns()));
    if (on_device) lane.about.device = key.second;
  }
}

void TraceLanes::AddMemory() {
  const MemoryEventTable& events = of().trace->memory_events;
  std::map<int32_t, std::pair<std::vector<Swing>, std::vector<Swing>>> devices;  // allocated, reserved
  for (uint32_t row = 0; row < events.size(); ++row) {
    if (events.device[row] == kAbsent32 || events.device[row] < 0) continue;
    auto& [allocated, reserved] = devices[events.device[row]];
    const auto add = [&](std::vector<Swing>& to, int64_t bytes) {
      const auto value = static_cast<double>(bytes);
      if (bytes != kAbsent) to.push_back({events.ts_ns[row] + of().ts_shift_ns, 0, 0, value, value, 1});
    };
    add(allocated, events.total_allocated[row]);
    add(reserved, events.total_reserved[row]);
  }
  for (auto& [device, memory] : devices) {
    for (auto& [samples, word] : {std::pair(&memory.first, "allocated"), std::pair(&memory.second, "reserved")}) {
      if (samples->empty()) continue;
      Lane& lane = lanes_.emplace_back(CounterLane(LaneKind::kMemory, StrCat("GPU ", device, " memory ", word), "bytes",
                                                   std::move(*samples), end_ns()));
      lane.about.device = device;
    }
  }
}

void TraceLanes::Finish() {
  for (Lane& lane : lanes_) {
    for (EventLine& line : lane.events) line.Finish();
    for (StateLine& line : lane.states) line.Finish();
    for (CounterLine& line : lane.counters) line.Finish();
  }
}

int64_t TraceLanes::Number(int64_t first) {
  for (Lane& lane : lanes_) lane.about.lane = first++;
  return first;
}

SpanWords TraceLanes::WordsOf(const Lane& lane, uint32_t row) const {
  const Trace& trace = *of().trace;
  switch (lane.about.kind) {
    case LaneKind::kSteps: return {trace.Text(trace.steps.name[row]), "step"};
    case LaneKind::kAnnotations: return {trace.Text(trace.gpu_annotations.name[row]), "annotation"};
    case LaneKind::kDevice: return {kDeviceStateNames[row], kDeviceStateNames[row]};
    case LaneKind::kStream:
      return {trace.Text(trace.gpu_ops.name[row]), ToString(trace.gpu_ops.op_class[row]), of().Id(GpuOpId(row))};
    case LaneKind::kThread:
      return {trace.Text(trace.slices.name[row]), ToString(trace.slices.category[row]), of().Id(SliceId(row))};
    case LaneKind::kCalls: return {trace.Text(trace.os_calls.name[row]), "system"};
    case LaneKind::kSamples: {
      const StackId stack = trace.samples.stack[row];
      return {stack.valid() ? trace.Text(trace.stacks.function[stack.value]) : std::string_view(), "sample"};
    }
    case LaneKind::kIdle: break;
    case LaneKind::kCounter:
    case LaneKind::kMemory: return {};
  }
  const IdleGap& gap = lane.device->gaps[row];
  const SliceId open = gap.part_count > 0 ? lane.device->parts[gap.first_part].slice : SliceId();
  return {open.valid() ? trace.Text(trace.slices.name[open.value]) : std::string_view(),
          kIdleCauseNames[static_cast<size_t>(lane.device->MainCause(gap))]};
}

const Lane* TraceLanes::LaneOf(GpuOpId row) const {
  const GpuOpTable& ops = of().trace->gpu_ops;
  for (const Lane& lane : lanes_)
    if (lane.about.kind == LaneKind::kStream && lane.about.device == ops.device[row.value] &&
        lane.about.stream == ops.stream[row.value])
      return &lane;
  return nullptr;
}

const Lane* TraceLanes::LaneOf(SliceId row) const {
  const Trace& trace = *of().trace;
  const ThreadId thread = trace.slices.thread[row.value];
  if (thread.value >= trace.threads.size()) return nullptr;
  const bool python = trace.slices.category[row.value] == SliceCategory::kPython;
  for (const Lane& lane : lanes_)
    if (lane.about.kind == LaneKind::kThread && lane.thread == thread && lane.python == python) return &lane;
  return nullptr;
}

const Lane* TraceLanes::LaneOf(LaneKind kind, int64_t tid) const {
  const auto found =
      std::ranges::find_if(lanes_, [&](const Lane& lane) { return lane.about.kind == kind && lane.about.tid == tid; });
  return found == lanes_.end() ? nullptr : &*found;
}

const Lane* TraceLanes::FirstOf(LaneKind kind) const {
  const auto found = std::ranges::find(lanes_, kind, [](const Lane& lane) { return lane.about.kind; });
  return found == lanes_.end() ? nullptr : &*found;
}

}  // namespace gapless::internal
