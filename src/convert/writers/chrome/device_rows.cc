// SPDX-License-Identifier: Apache-2.0
// Writes the rows of the device: operations, annotations, synchronisations, with the categories and argument names
// of Kineto.
#include <algorithm>
#include <array>

#include "convert/writers/chrome/collectives.h"
#include "convert/writers/chrome/rows.h"

namespace gapless::internal::chrome {
namespace {

// A StreamPlaces returns the place of a stream; the last one is remembered, because neighbouring rows share it.
class StreamPlaces {
 public:
  explicit StreamPlaces(const Places& places) : places_(places) {}
  Place Work(int32_t device, int64_t stream) { return {Find(device, stream).pid, tids_->work}; }
  Place Annotations(int32_t device, int64_t stream) { return {Find(device, stream).pid, tids_->annotations}; }
  // A wait that names neither stands where the call was, else with what gapless adds.
  Place Waits(int32_t device, int64_t stream, const Place* call) {
    if (device == kAbsent32 && stream == kAbsent) return call == nullptr ? Place{places_.own_pid, 0} : *call;
    return {Find(device, stream).pid, tids_->waits};
  }

 private:
  const DevicePlaces& Find(int32_t device, int64_t stream) {
    if (of_ != nullptr && device == device_ && stream == stream_) return *of_;
    device_ = device, stream_ = stream;
    of_ = &places_.devices.at(device);
    tids_ = &of_->streams.at(stream);
    return *of_;
  }
  const Places& places_;
  const DevicePlaces* of_ = nullptr;
  const StreamTids* tids_ = nullptr;
  int32_t device_ = 0;
  int64_t stream_ = 0;
};

std::string_view CategoryOf(GpuOpKind kind) {
  return kind == GpuOpKind::kKernel ? "kernel" : kind == GpuOpKind::kMemcpy ? "gpu_memcpy" : "gpu_memset";
}

// [8,2,1]; what follows an absent number is left out.
void TripleArg(Events& out, std::string_view key, std::array<int32_t, 3> numbers) {
  if (numbers[0] == kAbsent32) return;
  std::string text = "[";
  for (size_t i = 0; i < numbers.size() && numbers[i] != kAbsent32; ++i) {
    if (i > 0) text += ',';
    text += std::to_string(numbers[i]);
  }
  out.RawArg(key, text += ']');
}

void LaunchArgs(Events& out, const GpuOpTable& ops, size_t row) {
  out.Arg("registers per thread", ops.registers[row]).Arg("shared memory", ops.shared_bytes[row]);
  out.Arg("blocks per SM", ops.blocks_per_sm[row]).Arg("warps per SM", ops.warps_per_sm[row]);
  TripleArg(out, "grid", {ops.grid_x[row], ops.grid_y[row], ops.grid_z[row]});
  TripleArg(out, "block", {ops.block_x[row], ops.block_y[row], ops.block_z[row]});
  out.Arg("est. achieved occupancy %", ops.occupancy_pct[row]);
}

std::string_view NameOf(SyncKind kind) {
  switch (kind) {
    case SyncKind::kStream: return "Stream Sync";
    case SyncKind::kEvent: return "Event Sync";
    case SyncKind::kStreamWait: return "Stream Wait Event";
    default: return "Context Sync";
  }
}

// Returns true if the row holds more than the host's call alone; otherwise it needs no event of its own.
bool SaysMore(const Trace& trace, size_t row) {
  const SyncTable& syncs = trace.syncs;
  if (!syncs.slice[row].valid()) return true;
  if (syncs.device[row] != kAbsent32 || syncs.stream[row] != kAbsent || syncs.event[row] != kAbsent) return true;
  const SyncKind kind = syncs.kind[row];
  if (kind == SyncKind::kStreamWait) return syncs.wait_ns[row] != kAbsent;
  switch (trace.slices.api[syncs.slice[row].value]) {
    case ApiKind::kDeviceSync: return kind != SyncKind::kDevice;
    case ApiKind::kStreamSync: return kind != SyncKind::kStream;
    case ApiKind::kEventSync: return kind != SyncKind::kEvent;
    case ApiKind::kStreamWait: return true;
    default: return false;
  }
}

// The calls that record events, in their order. Of those an operation can be waited for by, the first after its launch
// does: its stream had been given nothing else then.
class EventRecords {
 public:
  explicit EventRecords(const Trace& trace) : trace_(trace) {
    for (uint32_t row = 0; row < trace.slices.size(); ++row)
      if (trace.slices.api[row] == ApiKind::kEventRecord && trace.slices.correlation[row] != kAbsent)
        calls_.push_back(row);
  }
  void Write(GpuOpId op, Events& out) const {
    if (!op.valid() || !trace_.gpu_ops.launch[op.value].valid()) return;
    const int64_t launched = trace_.slices.ts_ns[trace_.gpu_ops.launch[op.value].value];
    const auto call = std::upper_bound(calls_.begin(), calls_.end(), launched,
                                       [&](int64_t ts, uint32_t row) { return ts < trace_.slices.ts_ns[row]; });
    if (call == calls_.end()) return;
    out.Arg("wait_on_stream", trace_.gpu_ops.stream[op.value]);
    out.Arg("wait_on_cuda_event_record_corr_id", trace_.slices.correlation[*call]);
  }

 private:
  const Trace& trace_;
  std::vector<uint32_t> calls_{};  // rows of the slice table, which is ordered by time
};

}  // namespace

// Writes kernels, copies and memsets on the track of their stream. Absent values have no argument.
bool WriteGpuOps(const Job& job) {
  const GpuOpTable& ops = job.trace().gpu_ops;
  StreamPlaces streams(job.places);
  Collectives collectives(job.trace());
  return ForRows(job, ops.ts_ns, [&](size_t row) {
    Events& out = job.out.Begin(Kind::kGpuOp, 'X', CategoryOf(ops.kind[row])).Name(ops.name[row]);
    out.At(streams.Work(ops.device[row], ops.stream[row]), ops.ts_ns[row]).Dur(ops.dur_ns[row]);
    out.Arg("External id", ops.external_id[row]).Arg("device", ops.device[row]).Arg("context", ops.context[row]);
    out.Arg("stream", ops.stream[row]).Arg("correlation", ops.correlation[row]).Arg("graph id", ops.graph_id[row]);
    out.Arg("graph node id", ops.graph_node_id[row])
        .Arg("channel", ops.channel[row])
        .Arg("priority", ops.priority[row]);
    out.Arg("bytes", ops.bytes[row]).Arg("memory bandwidth (GB/s)", ops.bandwidth_gbps[row]);
    LaunchArgs(out, ops, row);
    if (ops.op_class[row] == GpuOpClass::kCommunication) collectives.AddArgs(GpuOpId(row), out);
    out.End();
  });
}

bool WriteGpuAnnotations(const Job& job) {
  const GpuAnnotationTable& rows = job.trace().gpu_annotations;
  StreamPlaces streams(job.places);
  return ForRows(job, rows.ts_ns, [&](size_t row) {
    Events& out = job.out.Begin(Kind::kGpuAnnotation, 'X', "gpu_user_annotation").Name(rows.name[row]);
    out.At(streams.Annotations(rows.device[row], rows.stream[row]), rows.ts_ns[row]).Dur(rows.dur_ns[row]);
    out.Arg("device", rows.device[row]).Arg("stream", rows.stream[row]).End();
  });
}

// The recorder's rows about waits. Those joined with a host call carry its correlation, and so are joined again.
bool WriteSyncs(const Job& job) {
  const Trace& trace = job.trace();
  const SyncTable& syncs = trace.syncs;
  StreamPlaces streams(job.places);
  const EventRecords records(trace);
  return ForRows(job, syncs.ts_ns, [&](size_t row) {
    if (!SaysMore(trace, row)) return;
    const SliceId slice = syncs.slice[row];
    const bool waits = syncs.kind[row] == SyncKind::kStreamWait && syncs.wait_ns[row] != kAbsent;
    Events& out = job.out.Begin(Kind::kSync, 'X', "cuda_sync").Name(NameOf(syncs.kind[row]));
    const Place* call = slice.valid() ? &job.places.threads[trace.slices.thread[slice.value].value] : nullptr;
    out.At(streams.Waits(syncs.device[row], syncs.stream[row], call), syncs.ts_ns[row]);
    out.Dur(waits ? syncs.wait_ns[row] : syncs.dur_ns[row]).Arg("cuda_sync_kind", NameOf(syncs.kind[row]));
    out.Arg("device", syncs.device[row]).Arg("stream", syncs.stream[row]);
    out.Arg("wait_on_cuda_event_id", syncs.event[row]);
    if (syncs.kind[row] == SyncKind::kStreamWait) records.Write(syncs.waited_gpu_op[row], out);
    if (slice.valid()) out.Arg("correlation", trace.slices.correlation[slice.value]);
    out.End();
  });
}

}  // namespace gapless::internal::chrome
