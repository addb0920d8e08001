// SPDX-License-Identifier: Apache-2.0
// Host work that a training loop should not repeat in every step: compile, collect garbage, write checkpoints, load
// modules, ask the driver for memory, run a forward pass twice. Found by the names PyTorch gives its Python frames, its
// own annotations (`… (dynamo_timed)`, `Python GC`, `Torch-Compiled Region: 0/1`) and its runtime calls; recordings
// without stacks show less of it. The names are judged once per distinct text, the slices in one sweep.
//
// A slice inside another of its kind is part of it and not counted. `idle_ns` is the device's idle time while the event
// lasts; whether it would have idled anyway is not known. What the first complete step does may be warm-up: `later_…`
// counts the other steps alone.
#include "analyses/rows/host_events.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/one_offs.h"

namespace gapless::internal::host_events_analysis {
namespace {

enum Kind : uint8_t {
  kNothing,
  kCompilation,
  kCompiledRegion,
  kGraphRecording,
  kGarbage,
  kSave,
  kRecompute,
  kModuleLoad,
  kDeviceAlloc,
  kDeviceFree,
  kHostAlloc,
  kDataParallel,
  kDdp,
  kDdpBuffers,
  kFsdp,
  kScheduling,
  kDetokenisation,
  kPreemption,
  kKinds
};
constexpr std::string_view kKindNames[kKinds] = {"",
                                                 "compilation",
                                                 "compiled_region",
                                                 "graph_recording",
                                                 "garbage_collection",
                                                 "checkpoint_save",
                                                 "recompute",
                                                 "module_load",
                                                 "device_alloc",
                                                 "device_free",
                                                 "host_alloc",
                                                 "data_parallel",
                                                 "ddp",
                                                 "ddp_buffers",
                                                 "fsdp",
                                                 "engine_scheduling",
                                                 "detokenisation",
                                                 "preemption"};

// "torch/serialization.py(965): save" → the file and the function.
struct Frame {
  std::string_view file, function;
};
Frame FrameOf(std::string_view name) {
  const size_t end = name.find(".py("), colon = name.find("): ");
  if (end == name.npos || colon == name.npos || colon < end) return {};
  return {name.substr(0, end + 3), name.substr(colon + 3)};
}

bool IsSave(std::string_view name, const Frame& frame) {
  if (frame.file.ends_with("torch/serialization.py")) return frame.function == "save";
  if (frame.file.find("torch/distributed/checkpoint/") != frame.file.npos)
    return frame.function == "save" || frame.function == "async_save" || frame.function == "save_state_dict";
  if (frame.file.ends_with("safetensors/torch.py")) return frame.function == "save_file";
  if (!frame.function.empty()) return frame.function == "save_checkpoint" || frame.function == "_save_checkpoint";
  return name == "save_checkpoint" || name == "checkpoint_save" || name == "torch.save";
}

// A function of a serving engine, by its file. Those that run the model are none of them.
struct EngineFunction {
  std::string_view file, function;  // parts of the path; empty: any function of the file
  Kind kind;
};
constexpr EngineFunction kEngineFunctions[] = {
    {"vllm/v1/core/sched/scheduler", "_preempt_request", kPreemption},
    {"vllm/core/scheduler", "_preempt", kPreemption},
    {"sglang/srt/managers/schedule_batch", "retract_decode", kPreemption},
    {"tensorrt_llm/_torch/pyexecutor/", "_pause_requests", kPreemption},
    {"vllm/v1/engine/detokenizer", "", kDetokenisation},
    {"vllm/v1/engine/output_processor", "process_outputs", kDetokenisation},
    {"vllm/transformers_utils/detokenizer", "", kDetokenisation},
    {"sglang/srt/managers/detokenizer_manager", "", kDetokenisation},
    {"vllm/v1/core/sched/scheduler", "schedule", kScheduling},
    {"vllm/v1/core/sched/scheduler", "update_from_output", kScheduling},
    {"vllm/core/scheduler", "schedule", kScheduling},
    {"vllm/v1/worker/gpu_model_runner", "_prepare_inputs", kScheduling},
    {"vllm/v1/worker/gpu_model_runner", "_update_states", kScheduling},
    {"sglang/srt/managers/scheduler", "get_next_batch_to_run", kScheduling},
    {"sglang/srt/managers/scheduler", "process_batch_result", kScheduling},
    {"sglang/srt/managers/scheduler", "recv_requests", kScheduling},
    {"sglang/srt/managers/scheduler", "process_input_requests", kScheduling},
    {"sglang/srt/managers/schedule_batch", "get_model_worker_batch", kScheduling},
    {"sglang/srt/managers/schedule_batch", "prepare_for_", kScheduling},
    {"tensorrt_llm/_torch/pyexecutor/scheduler", "schedule_request", kScheduling},
    {"tensorrt_llm/_torch/pyexecutor/py_executor", "_schedule", kScheduling},
    {"tensorrt_llm/_torch/pyexecutor/py_executor", "_prepare_and_schedule_batch", kScheduling},
};

Kind KindOfEngine(const Frame& frame) {
  if (frame.file.empty()) return kNothing;
  for (const EngineFunction& known : kEngineFunctions)
    if (frame.file.find(known.file) != frame.file.npos && frame.function.starts_with(known.function)) return known.kind;
  return kNothing;
}

Kind KindOf(std::string_view name) {
  if (name == "DataParallel.forward") return kDataParallel;
  if (name == "DistributedDataParallel.forward") return kDdp;
  if (name == "aten::flatten_dense_tensors" || name == "aten::unflatten_dense_tensors") return kDdpBuffers;
  if (name.starts_with("FullyShardedDataParallel") || name.starts_with("FSDP::pre_forward")) return kFsdp;
  if (name == "Python GC" || name == "gc.collect" || name == "<built-in function collect>") return kGarbage;
  if (name.starts_with("Torch-Compiled Region")) return kCompiledRegion;
  if (name.starts_with("CUDAGraphNode.record")) return kGraphRecording;
  const Frame frame = FrameOf(name);
  if (IsCompilation(name)) return kCompilation;
  if (IsSave(name, frame)) return kSave;
  if (frame.file.ends_with("torch/utils/checkpoint.py") &&
      (frame.function == "recompute_fn" || frame.function == "backward"))
    return kRecompute;
  return KindOfEngine(frame);
}

Kind KindOf(ApiKind api) {
  switch (api) {
    case ApiKind::kAlloc: return kDeviceAlloc;
    case ApiKind::kFree: return kDeviceFree;
    case ApiKind::kHostAlloc: return kHostAlloc;
    case ApiKind::kCompile: return kModuleLoad;
    default: return kNothing;
  }
}

// The idle time of all devices, to be asked for any span.
OverlapSums IdleOf(const TraceTimeline& timeline) {
  std::vector<Interval> gaps;
  for (const DeviceTimeline& device : timeline.devices)
    for (const IdleGap& gap : device.gaps) gaps.push_back(gap.span);
  return OverlapSums(gaps);
}

struct Group {
  int64_t calls = 0, total_ns = 0, idle_ns = 0, steps_hit = 0;
  int64_t later_calls = 0, later_ns = 0, later_idle_ns = 0;
  uint32_t longest = 0;
  StepId last_step{};
};
using Key = std::tuple<Kind, StringId, StringId>;  // kind, name, source line

class Events {
 public:
  explicit Events(const TraceTimeline& timeline) : timeline_(timeline), trace_(timeline.trace()) {
    by_name_.resize(trace_.strings.size());
    for (size_t id = 0; id < by_name_.size(); ++id) by_name_[id] = KindOf(trace_.strings[static_cast<StringId>(id)]);
    if (!timeline.window.steps.empty()) first_step_ = timeline.window.steps.front().step;
    const SliceTable& slices = trace_.slices;
    const RowRange rows = RowsWithin(slices.ts_ns, timeline.window.host);
    for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row)
      if (const Kind kind = Of(row); kind != kNothing && !Inside(row, kind)) {
        // Others flatten tensors, too: gradients, parameters.
        if (kind != kDdpBuffers || Inside(row, kDdp)) Add(row, kind);
      }
  }

  std::map<Key, Group> groups;

 private:
  Kind Of(uint32_t row) const {
    const Kind by_name = by_name_[static_cast<uint32_t>(trace_.slices.name[row])];
    return by_name != kNothing ? by_name : KindOf(trace_.slices.api[row]);
  }
  bool Inside(uint32_t row, Kind kind) const {
    for (SliceId at = trace_.slices.parent[row]; at.valid(); at = trace_.slices.parent[at.value])
      if (Of(at.value) == kind) return true;
    return false;
  }
  void Add(uint32_t row, Kind kind) {
    const SliceTable& slices = trace_.slices;
    Group& group = groups[{kind, slices.name[row], slices.source_line[row]}];
    const int64_t start = slices.ts_ns[row], dur = slices.dur_ns[row];
    if (!idle_) idle_.emplace(IdleOf(timeline_));  // most recordings hold no such event
    const int64_t idle = idle_->In({start, start + dur});
    if (group.calls++ == 0 || dur > slices.dur_ns[group.longest]) group.longest = row;
    group.total_ns += dur, group.idle_ns += idle;
    const StepId step = slices.step[row];
    if (!step.valid() || !first_step_.valid()) return;
    if (group.last_step != step) ++group.steps_hit, group.last_step = step;
    if (step == first_step_) return;
    ++group.later_calls, group.later_ns += dur, group.later_idle_ns += idle;
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  std::vector<Kind> by_name_;
  std::optional<OverlapSums> idle_;
  StepId first_step_{};
};

void AddRows(const TraceTimeline& timeline, TableOf<HostEventsRows>& table) {
  const Trace& trace = timeline.trace();
  const Events events(timeline);
  std::vector<std::pair<Key, Group>> ordered(events.groups.begin(), events.groups.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  const auto devices = static_cast<int64_t>(timeline.devices.size());
  for (const auto& [key, group] : ordered) {
    const auto& [kind, name, source_line] = key;
    auto row = table.Row(*timeline.of);
    row.Set("kind", kKindNames[kind]).Set("name", trace.Text(name)).Set("source_line", trace.Text(source_line));
    row.Set("calls", group.calls).Set("calls_per_step", ShareOf(group.calls, steps)).Set("total_ns", group.total_ns);
    row.Set("max_ns", trace.slices.dur_ns[group.longest]).Set("idle_ns", MeanOf(group.idle_ns, devices));
    row.Set("slice_id", timeline.of->Id(SliceId(group.longest)));
    if (steps == 0) continue;
    row.Set("steps_hit", group.steps_hit).Set("later_calls", group.later_calls).Set("later_total_ns", group.later_ns);
    row.Set("later_idle_ns", MeanOf(group.later_idle_ns, devices));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<HostEventsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(host_events) = AnalysisOf<HostEventsRows>({.run = Compute, .cost = 2});

}  // namespace gapless::internal::host_events_analysis
