// SPDX-License-Identifier: Apache-2.0
// Writes the rows of the host: slices, allocator events, counters, arrows.
#include <algorithm>

#include "convert/writers/chrome/collectives.h"
#include "convert/writers/chrome/rows.h"

namespace gapless::internal::chrome {
namespace {

// As Kineto calls them today; AMD's runtime calls are distinguished by their names, not by the category.
std::string_view CategoryOf(SliceCategory category) {
  switch (category) {
    case SliceCategory::kOperator: return "cpu_op";
    case SliceCategory::kAnnotation: return "user_annotation";
    case SliceCategory::kPython: return "python_function";
    case SliceCategory::kRuntime: return "cuda_runtime";
    case SliceCategory::kDriver: return "cuda_driver";
    case SliceCategory::kOverhead: return "overhead";
    case SliceCategory::kOther: break;
  }
  return "other";
}

struct FlowNames {
  std::string_view category, name;
};
FlowNames NamesOf(FlowKind kind) {
  if (kind == FlowKind::kLaunch) return {"ac2g", "ac2g"};
  return kind == FlowKind::kForwardBackward ? FlowNames{"fwdbwd", "fwdbwd"} : FlowNames{"other", "other"};
}

// A FlowPlaces returns where the end of an arrow is: table flow has the thread or stream, not the process. A
// stream of several devices is decided by the operation that starts at the arrow's end.
class FlowPlaces {
 public:
  explicit FlowPlaces(const Job& job) : places_(job.places), ops_(job.trace().gpu_ops) {
    for (const auto& [device, of] : places_.devices)
      for (const auto& [stream, tids] : of.streams) {
        const auto [at, is_new] = pid_of_stream_.try_emplace(stream, of.pid);
        if (!is_new) at->second = kAbsent;
      }
  }

  Place OnHost(int64_t tid, int64_t ts_ns) const {
    const auto found = places_.pid_of_tid.find(tid);
    return found != places_.pid_of_tid.end() ? Place{found->second, tid} : OnDevice(tid, ts_ns);
  }
  Place OnDevice(int64_t stream, int64_t ts_ns) const {
    const auto found = pid_of_stream_.find(stream);
    if (found == pid_of_stream_.end()) {
      const auto host = places_.pid_of_tid.find(stream);
      return {host == places_.pid_of_tid.end() ? 0 : host->second, stream};
    }
    return {found->second == kAbsent ? PidByTime(stream, ts_ns) : found->second, stream};
  }

 private:
  // Several devices have the stream: the one with an operation that starts then.
  int64_t PidByTime(int64_t stream, int64_t ts_ns) const {
    auto at = std::lower_bound(ops_.ts_ns.begin(), ops_.ts_ns.end(), ts_ns);
    constexpr int kMax = 64;
    for (int i = 0; i < kMax && at != ops_.ts_ns.end() && *at == ts_ns; ++i, ++at) {
      const auto row = static_cast<size_t>(at - ops_.ts_ns.begin());
      if (ops_.stream[row] == stream) return places_.devices.at(ops_.device[row]).pid;
    }
    for (const auto& [device, of] : places_.devices)
      if (of.streams.contains(stream)) return of.pid;
    return 0;
  }

  const Places& places_;
  const GpuOpTable& ops_;
  std::unordered_map<int64_t, int64_t> pid_of_stream_;  // kAbsent: several
};

}  // namespace

// O(log n) of the windows.
bool Job::Within(int64_t ts_ns) const {
  if (windows == nullptr) return true;
  const auto after = std::ranges::upper_bound(*windows, ts_ns, {}, [](Interval window) { return window.start; });
  return after != windows->begin() && ts_ns < (after - 1)->end;
}

bool Job::GoOn(size_t rows) const {
  rows_done += static_cast<int64_t>(rows);
  if (input.progress) input.progress(std::min(rows_done, rows_total), rows_total);
  return out.good() && !input.cancelled();
}

int64_t RowsOf(const Trace& trace) {
  size_t rows = 0;
  Trace::VisitTables(trace, [&](std::string_view, const auto& table) { rows += table.size(); });
  return static_cast<int64_t>(rows);
}

// Writes slices of all threads. Shapes and types are JSON already and are written as such if they are valid.
bool WriteSlices(const Job& job) {
  const SliceTable& slices = job.trace().slices;
  Collectives collectives(job.trace());
  return ForRows(job, slices.ts_ns, [&](size_t row) {
    const SliceCategory category = slices.category[row];
    if (category == SliceCategory::kPython && !job.input.parts.python) return;
    Events& out = job.out.Begin(Kind::kSlice, 'X', CategoryOf(category)).Name(slices.name[row]);
    out.At(job.places.threads[slices.thread[row].value], slices.ts_ns[row]).Dur(slices.dur_ns[row]);
    out.Arg("External id", slices.external_id[row]).Arg("correlation", slices.correlation[row]);
    out.Arg("Sequence number", slices.sequence[row]);
    out.JsonArg("Input Dims", slices.input_shapes[row]).JsonArg("Input type", slices.input_types[row]);
    out.JsonArg("Concrete Inputs", slices.concrete_inputs[row]);
    out.Arg("source line", slices.source_line[row]);
    if (category == SliceCategory::kOperator || category == SliceCategory::kAnnotation)
      collectives.AddArgs(SliceId(row), out);
    out.End();
  });
}

bool WriteMemoryEvents(const Job& job) {
  const MemoryEventTable& events = job.trace().memory_events;
  return ForRows(job, events.ts_ns, [&](size_t row) {
    Events& out = job.out.Begin(Kind::kMemoryEvent, 'i', "cpu_instant_event").Name("[memory]").Field("s", "t");
    out.At(job.places.threads[events.thread[row].value], events.ts_ns[row]);
    out.Arg("Device Type", static_cast<int64_t>(events.device_type[row]));
    out.Arg("Device Id", events.device[row] == kAbsent32 ? int64_t{-1} : int64_t{events.device[row]});
    out.Arg("Addr", events.address[row]).Arg("Bytes", events.bytes[row]);
    out.Arg("Total Allocated", events.total_allocated[row]).Arg("Total Reserved", events.total_reserved[row]).End();
  });
}

// Writes recorded counters under their device's process, or under the first host process.
bool WriteCounters(const Job& job) {
  const CounterTable& counters = job.trace().counters;
  const Place host{job.places.threads.empty() ? 0 : job.places.threads[0].pid, 0};
  return ForRows(job, counters.ts_ns, [&](size_t row) {
    const auto device = job.places.devices.find(counters.device[row]);
    const Place place = device == job.places.devices.end() ? host : Place{device->second.pid, 0};
    Events& out = job.out.Begin(Kind::kCounter, 'C', "counter").Name(counters.name[row]);
    out.At(place, counters.ts_ns[row]).Arg("value", counters.value[row]).Arg("device", counters.device[row]).End();
  });
}

// Writes both ends of each arrow, if both lie within the windows: an arrow with one end would be drawn to nowhere.
// Ids are given anew, unique within the file.
bool WriteFlows(const Job& job, int64_t& next_id) {
  const FlowTable& flows = job.trace().flows;
  const FlowPlaces places(job);
  constexpr size_t kAtOnce = 16'384;
  for (size_t row = 0; row < flows.size(); ++row) {
    if (row % kAtOnce == kAtOnce - 1 && !job.GoOn(kAtOnce)) return false;
    const int64_t from = flows.from_ts_ns[row], to = flows.to_ts_ns[row];
    if (!job.Within(from) || !job.Within(to)) continue;
    const bool launch = flows.kind[row] == FlowKind::kLaunch;
    const auto [category, name] = NamesOf(flows.kind[row]);
    const int64_t id = ++next_id;
    job.out.Begin(Kind::kFlow, 's', category).Name(name).Field("id", id);
    job.out.At(places.OnHost(flows.from_tid[row], from), from).End();
    job.out.Begin(Kind::kFlow, 'f', category).Name(name).Field("id", id).Field("bp", "e");
    job.out.At(launch ? places.OnDevice(flows.to_tid[row], to) : places.OnHost(flows.to_tid[row], to), to).End();
  }
  return job.GoOn(flows.size() % kAtOnce);
}

}  // namespace gapless::internal::chrome
