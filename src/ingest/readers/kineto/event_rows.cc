// SPDX-License-Identifier: Apache-2.0
// Decides the kind of each event from its category and name, and adds the rows of that kind to the thread's shard.
//
// Names are judged once per distinct text and category, and found again by their interned id, so an event costs a
// few hash look-ups. Categories differ by recorder and version, and recorders of other vendors have their own: the
// table maps them to a few kinds. Slices of unknown categories are kept, since they may be a user's own marks.
// Events without a table (instants, begin and end events) are counted.
#include "ingest/readers/kineto/event_rows.h"

#include <algorithm>

#include "base/strings.h"
#include "ingest/readers/kineto/frames.h"
#include "trace/marks.h"

namespace gapless::internal::kineto {
namespace {

constexpr std::array<NoteText, static_cast<size_t>(Note::kCount)> kNoteTexts = {{
    {"unreadable_events", Severity::kError, "events that are no valid JSON were left out"},
    {"deep_events", Severity::kError, "events nested deeper than 64 levels, or never closed, were left out"},
    {"bad_times", Severity::kLoss, "events without a usable time, or that last over a day, were left out"},
    {"missing_durations", Severity::kLoss, "complete events without a duration were left out"},
    {"negative_durations", Severity::kLoss, "events with a negative duration count as length 0"},
    {"control_characters", Severity::kInfo, "events with control characters in their texts were cleaned"},
    {"invalid_utf8", Severity::kInfo, "events with invalid UTF-8 in their texts were cleaned"},
    {"stray_bytes", Severity::kError, "bytes between events that are no event were skipped"},
    {"recorder_spans", Severity::kInfo, "spans of the recorder itself are not part of the tables"},
    {"instants", Severity::kInfo, "instant markers are not part of the tables"},
    {"begin_end_events", Severity::kLoss, "begin and end events are not paired up and were left out"},
    {"other_phases", Severity::kInfo, "events of phases that carry no time were left out"},
    {"other_categories", Severity::kInfo, "slices of unknown categories are kept as category other"},
    {"gapless_annotations", Severity::kInfo, "what gapless added to a converted recording is not part of the tables"},
}};

constexpr int64_t kMaxDurationNs = int64_t{86'400} * 1'000'000'000;  // a day: longer than any recording

// Returns the value, or kAbsent32 if it does not fit.
int32_t Narrow(int64_t value) {
  return value == kAbsent || value < INT32_MIN + 1 || value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value);
}

}  // namespace

const NoteText& TextOf(Note note) { return kNoteTexts[static_cast<size_t>(note)]; }

void EventRows::Tell(Note note, uint64_t offset, int64_t count) {
  Tally& tally = tallies_[static_cast<size_t>(note)];
  tally.count += count;
  const auto at = static_cast<int64_t>(offset);
  if (tally.first_offset == kAbsent || at < tally.first_offset) tally.first_offset = at;
}

void EventRows::BeginChunk(uint64_t order) {
  shard_.BeginChunk(order);
  tallies_before_ = tallies_;
  events_before_ = events_;
}

void EventRows::DropChunk() {
  shard_.DropChunk();
  tallies_ = tallies_before_;
  events_ = events_before_;
}

void EventRows::Finish(TraceBuilder& builder) const {
  for (size_t i = 0; i < tallies_.size(); ++i)
    builder.Count(kNoteTexts[i].kind, kNoteTexts[i].severity, tallies_[i].count, tallies_[i].first_offset,
                  kNoteTexts[i].text);
  for (const auto& [key, name] : thread_names_) builder.NameThread(key.first, key.second, name);
  for (const auto& [pid, name] : process_names_) builder.NameProcess(pid, name);
}

// Returns the category of a token, which still has its quotes: that saves taking them off for each event. The most
// frequent categories stand first.
EventRows::Category EventRows::CategoryOf(std::string_view token) {
  struct Named {
    std::string_view token;
    Category category;
  };
  static constexpr Named kNamed[] = {{"\"cpu_op\"", Category::kOperator},
                                     {"\"python_function\"", Category::kPython},
                                     {"\"cuda_runtime\"", Category::kRuntime},
                                     {"\"kernel\"", Category::kKernel},
                                     {"\"user_annotation\"", Category::kAnnotation},
                                     {"\"Operator\"", Category::kOperator},
                                     {"\"Runtime\"", Category::kRuntime},
                                     {"\"Kernel\"", Category::kKernel},
                                     {"\"gpu_memcpy\"", Category::kMemcpy},
                                     {"\"gpu_memset\"", Category::kMemset},
                                     {"\"Memcpy\"", Category::kMemcpy},
                                     {"\"Memset\"", Category::kMemset},
                                     {"\"cuda_driver\"", Category::kDriver},
                                     {"\"gpu_user_annotation\"", Category::kGpuAnnotation},
                                     {"\"cuda_sync\"", Category::kSync},
                                     {"\"overhead\"", Category::kOverhead},
                                     {"\"Trace\"", Category::kTrace},
                                     {"\"hip_runtime\"", Category::kRuntime},
                                     {"\"hip_driver\"", Category::kDriver},
                                     {"\"xpu_runtime\"", Category::kRuntime},
                                     {"\"mtia_runtime\"", Category::kRuntime},
                                     {"\"privateuse1_runtime\"", Category::kRuntime},
                                     {"\"privateuse1_driver\"", Category::kDriver},
                                     {"\"operator\"", Category::kOperator},
                                     {"\"mlu_runtime\"", Category::kRuntime},
                                     {"\"mlu_memcpy\"", Category::kMemcpy},
                                     {"\"mlu_memset\"", Category::kMemset},
                                     {"\"mtia_ccp_events\"", Category::kKernel},
                                     {"\"hpu_op\"", Category::kKernel},
                                     {"\"privateuse1_kernel\"", Category::kKernel},
                                     {"\"privateuse1_memcpy\"", Category::kMemcpy},
                                     {"\"privateuse1_memset\"", Category::kMemset},
                                     {"\"xpu_driver\"", Category::kDriver},
                                     {"\"glow_runtime\"", Category::kRuntime},
                                     // of Ascend: a thread of its own takes launches out of a queue
                                     {"\"dequeue\"", Category::kRuntime}};
  for (const Named& named : kNamed)
    if (named.token == token) return named.category;
  return token.empty() ? Category::kNone : Category::kOther;
}

// Events without a category come from two recorders.
//   torch.autograd.profiler: operators are those of the process "CPU functions", and work of the device those of "CUDA
//   functions", whose thread is the device's number.
//   Ascend's: work of the device has a "Task Type" and stands on its stream, calls of the runtime are called
//   "AscendCL@…", collectives "hcom_…"; Overlap Analysis repeats both and is left out, as are waits on the device.
// Others are known by their names.
EventRows::Category EventRows::LegacyCategoryOf(const EventFields& event) {
  const std::string_view name = TokenText(event.name), task = TokenText(event.task_type);
  if (event.pid == "\"CUDA functions\"") return Category::kKernel;
  if (!task.empty()) {
    constexpr std::string_view kNoWork[] = {"WAIT", "Wait", "EVENT", "NOTIFY", "PLACE_HOLDER", "Write Value"};
    const bool works = std::none_of(std::begin(kNoWork), std::end(kNoWork),
                                    [&](std::string_view part) { return task.find(part) != task.npos; });
    return works ? Category::kKernel : Category::kTrace;
  }
  if (name.starts_with("hcom_")) return Category::kKernel;
  if (name.starts_with("AscendCL@")) return Category::kRuntime;
  for (const std::string_view layer : {"Runtime@", "Node@", "Model@", "HcclOp@"})
    if (name.starts_with(layer)) return Category::kTrace;
  for (const std::string_view part : {"Computing", "Communication", "Communication(Not Overlapped)", "Free"})
    if (name == part) return Category::kTrace;
  const bool is_operator = event.pid == "\"CPU functions\"" || name.starts_with("aten::");
  return is_operator ? Category::kOperator : Category::kNone;
}

void EventRows::Add(const EventFields& event, uint64_t offset) {
  ++events_;
  if (event.cat == "\"gapless\"") return Tell(Note::kOwnAnnotation, offset);
  const char phase = event.ph.size() == 3 ? event.ph[1] : '\0';
  switch (phase) {
    case 'X': return AddComplete(event, offset);
    case 's': return AddFlow(event, true);
    case 'f':
    case 't': return AddFlow(event, false);
    case 'i':
    case 'I':
    case 'R': return AddInstant(event, offset);
    case 'C': return AddCounter(event, offset);
    case 'M': return AddMetadata(event);
    case 'B':
    case 'E': return Tell(Note::kBeginEnd, offset);
    default: return Tell(Note::kOtherPhase, offset);
  }
}

// Adds a complete event ("X"). Spans of the recorder itself are dropped first, since they may lack usable times.
void EventRows::AddComplete(const EventFields& event, uint64_t offset) {
  const Category category = event.cat.empty() ? LegacyCategoryOf(event) : CategoryOf(event.cat);
  if (category == Category::kTrace) {
    saw_framework_ |= TokenText(event.name).starts_with("PyTorch Profiler");
    return Tell(Note::kRecorderSpan, offset);
  }
  const int64_t ts = TokenNs(event.ts);
  if (ts == kAbsent) return Tell(Note::kBadTime, offset);
  if (event.dur.empty()) return Tell(Note::kMissingDuration, offset);
  int64_t dur = TokenNs(event.dur);
  if (dur == kAbsent || dur > kMaxDurationNs) return Tell(Note::kBadTime, offset);
  if (dur < 0) {
    Tell(Note::kNegativeDuration, offset);
    dur = 0;
  }
  switch (category) {
    case Category::kKernel:
    case Category::kMemcpy:
    case Category::kMemset: return AddGpuOp(event, category, ts, dur);
    case Category::kGpuAnnotation: return AddGpuAnnotation(event, ts, dur);
    case Category::kSync: return AddSync(event, ts, dur);
    case Category::kOther:
    case Category::kNone: Tell(Note::kOtherCategory, offset); [[fallthrough]];
    default: return AddSlice(event, category, ts, dur);
  }
}

// Returns what the name means in this category. The reference is good until the next call.
const EventRows::NameTraits& EventRows::TraitsOf(StringId name, Category category) {
  const auto at = static_cast<uint32_t>(name);
  if (at >= traits_.size()) traits_.resize(std::max<size_t>(at + 1, traits_.size() * 2));
  const auto bit = static_cast<uint16_t>(1U << static_cast<unsigned>(category));
  if ((traits_[at].known & bit) != 0) return traits_[at];
  const std::string text(shard_.strings[name]);  // a copy: interning below may move the texts' index, never the texts
  NameTraits found = traits_[at];
  found.known |= bit;
  if (category == Category::kRuntime || category == Category::kDriver) found.api = ClassifyApi(text);
  if (category == Category::kMemcpy) found.copy = ClassifyCopy(text);
  if (category == Category::kPython) found.source_line = shard_.Text(UserFunction(text));
  if (category == Category::kKernel) {
    found.kernel = ClassifyKernel(text);
    if (found.kernel.op_class == GpuOpClass::kCommunication) found.collective = shard_.Text(CollectiveKind(text));
  }
  if (category == Category::kOperator || category == Category::kAnnotation) {
    found.annotation = text.starts_with("ProfilerStep#") || text.starts_with("Optimizer.") || IsDataLoadingMark(text);
    if (text.starts_with("gloo:") || text.starts_with("mpi:") || text.starts_with("ucc:"))
      found.host_collective = shard_.Text(CollectiveKind(text));
  }
  return traits_[at] = found;
}

// Adds a slice of the host. Collectives that run on the host (gloo, MPI, UCC) also become rows of their own.
void EventRows::AddSlice(const EventFields& event, Category category, int64_t ts, int64_t dur) {
  SliceRow row;
  row.name = Text(event.name);
  const NameTraits& traits = TraitsOf(row.name, category);
  switch (category) {
    case Category::kOperator:
      row.category = traits.annotation ? SliceCategory::kAnnotation : SliceCategory::kOperator;
      break;
    case Category::kAnnotation: row.category = SliceCategory::kAnnotation; break;
    case Category::kPython: row.category = SliceCategory::kPython; break;
    case Category::kRuntime: row.category = SliceCategory::kRuntime; break;
    case Category::kDriver: row.category = SliceCategory::kDriver; break;
    case Category::kOverhead: row.category = SliceCategory::kOverhead; break;
    default: row.category = SliceCategory::kOther; break;
  }
  row.api =
      row.category == SliceCategory::kRuntime || row.category == SliceCategory::kDriver ? traits.api : ApiKind::kNone;
  row.pid = ProcessOf(event.pid);
  row.tid = ThreadOf(event.tid);
  row.ts_ns = ts;
  row.dur_ns = dur;
  row.external_id = event.external_id;
  row.correlation = event.correlation;
  row.sequence = event.sequence;
  const StringId function = category == Category::kPython ? traits.source_line : StringId::kNone;
  row.source_line = function != StringId::kNone     ? function
                    : !event.source_line.empty()    ? Text(event.source_line)
                    : category == Category::kPython ? StackLine(event.call_from)
                                                    : StackLine(event.call_stack);
  saw_python_ |= category == Category::kPython;
  const StringId collective = traits.host_collective;
  row.input_shapes = Shapes(event.input_dims);
  row.input_types = Shapes(event.input_types);
  row.concrete_inputs = Shapes(event.concrete_inputs);
  shard_.Add(row);
  if (collective != StringId::kNone && (category == Category::kOperator || category == Category::kAnnotation))
    AddHostCollective(event, row);
}

// Returns the device of a GPU operation: its argument, else the process, under which recorders list a device's
// work. Returns -1 if neither is a number.
int32_t EventRows::DeviceOf(const EventFields& event) {
  if (event.device == kAbsent && event.cat.empty()) {
    // Without categories (LegacyCategoryOf): the thread is the device's number, or there is one device.
    const int32_t thread = Narrow(TokenInt(event.tid));
    return event.pid == "\"CUDA functions\"" && thread != kAbsent32 ? thread : 0;
  }
  const int32_t device = Narrow(event.device != kAbsent ? event.device : TokenInt(event.pid));
  return device == kAbsent32 ? -1 : device;
}

void EventRows::AddGpuOp(const EventFields& event, Category category, int64_t ts, int64_t dur) {
  GpuOpRow row;
  row.name = Text(event.name);
  const NameTraits& traits = TraitsOf(row.name, category);
  row.kind = category == Category::kKernel   ? GpuOpKind::kKernel
             : category == Category::kMemcpy ? GpuOpKind::kMemcpy
                                             : GpuOpKind::kMemset;
  row.op_class = row.kind == GpuOpKind::kKernel ? traits.kernel.op_class : GpuOpClass::kCopy;
  row.matrix_unit = row.kind == GpuOpKind::kKernel ? traits.kernel.matrix_unit : MatrixUnit::kNo;
  row.precision = row.kind == GpuOpKind::kKernel ? traits.kernel.precision : KernelPrecision::kUnknown;
  row.copy_kind = row.kind == GpuOpKind::kMemcpy ? traits.copy : CopyKind::kNone;
  row.device = DeviceOf(event);
  row.context = Narrow(event.context);
  row.stream = event.stream != kAbsent ? event.stream : ThreadOf(event.tid);
  row.ts_ns = ts, row.dur_ns = dur;
  row.correlation = event.correlation, row.external_id = event.external_id, row.graph_id = event.graph_id;
  row.graph_node_id = event.graph_node_id;
  row.channel = Narrow(event.channel), row.priority = Narrow(event.priority);
  row.bytes = row.kind == GpuOpKind::kKernel ? kAbsent : event.bytes;
  row.bandwidth_gbps = event.bandwidth_gbps;
  row.grid_x = event.grid[0], row.grid_y = event.grid[1], row.grid_z = event.grid[2];
  row.block_x = event.block[0], row.block_y = event.block[1], row.block_z = event.block[2];
  row.registers = Narrow(event.registers), row.shared_bytes = Narrow(event.shared_bytes);
  row.occupancy_pct = static_cast<float>(event.occupancy_pct);
  row.blocks_per_sm = static_cast<float>(event.blocks_per_sm),
  row.warps_per_sm = static_cast<float>(event.warps_per_sm);
  shard_.Add(row);
  if (row.op_class == GpuOpClass::kCommunication) AddCollective(event, traits, row);
}

namespace {

// Returns the message size in bytes that the bus-bandwidth formula takes: what one rank ends up with (gathers) or
// puts in (everything else). Returns kAbsent if the recorder wrote no size, or the size is implausibly large.
int64_t MessageBytes(std::string_view kind, int64_t in_elements, int64_t out_elements, int64_t element_bytes) {
  const int64_t elements = kind == "all_gather" ? out_elements : in_elements;
  if (elements == kAbsent || elements < 0 || element_bytes == 0 || elements > INT64_MAX / 16) return kAbsent;
  return elements * element_bytes;
}

}  // namespace

// Takes a collective's place in its group, which newer recorders write.
void EventRows::TakeGroup(const EventFields& event, CollectiveRow& row) {
  row.seq = event.seq;
  row.src_rank = Narrow(event.src_rank), row.dst_rank = Narrow(event.dst_rank);
  row.group_ranks = Text(event.group_ranks);
}

// Adds the collective of a kernel. Its kind comes from the recorder's arguments if they name one: NCCL's kernel of
// a send or a receive has one name for both.
void EventRows::AddCollective(const EventFields& event, const NameTraits& traits, const GpuOpRow& op) {
  CollectiveRow row;
  row.name = op.name;
  row.kind = traits.collective;
  if (!event.collective.empty())
    if (const std::string_view kind = CollectiveKind(TokenText(event.collective)); !kind.empty())
      row.kind = shard_.Text(kind);
  row.group = Text(event.group_name);
  row.dtype = Text(event.dtype);
  row.device = op.device, row.stream = op.stream, row.ts_ns = op.ts_ns, row.dur_ns = op.dur_ns;
  row.group_size = Narrow(event.group_size);
  row.in_elements = event.in_elements, row.out_elements = event.out_elements;
  TakeGroup(event, row);
  row.bytes = MessageBytes(shard_.strings[row.kind], row.in_elements, row.out_elements,
                           ElementBytes(shard_.strings[row.dtype]));
  shard_.Add(row);
}

void EventRows::AddHostCollective(const EventFields& event, const SliceRow& slice) {
  CollectiveRow row;
  row.name = slice.name;
  row.kind = shard_.Text(CollectiveKind(shard_.strings[slice.name]));
  row.group = Text(event.group_name);
  row.dtype = Text(event.dtype);
  row.pid = slice.pid, row.tid = slice.tid, row.ts_ns = slice.ts_ns, row.dur_ns = slice.dur_ns;
  row.group_size = Narrow(event.group_size);
  row.in_elements = event.in_elements, row.out_elements = event.out_elements;
  TakeGroup(event, row);
  row.bytes = MessageBytes(shard_.strings[row.kind], row.in_elements, row.out_elements,
                           ElementBytes(shard_.strings[row.dtype]));
  shard_.Add(row);
}

void EventRows::AddGpuAnnotation(const EventFields& event, int64_t ts, int64_t dur) {
  GpuAnnotationRow row{.name = Text(event.name), .ts_ns = ts, .dur_ns = dur};
  const int32_t device = Narrow(event.device != kAbsent ? event.device : TokenInt(event.pid));
  row.device = device == kAbsent32 ? -1 : device;
  row.stream = event.stream != kAbsent ? event.stream : ThreadOf(event.tid);
  shard_.Add(row);
}

// Adds a wait of the host. Old recorders give the kind as the event's name; unknown kinds count as waits for the
// device.
void EventRows::AddSync(const EventFields& event, int64_t ts, int64_t dur) {
  SyncRow row{.ts_ns = ts, .dur_ns = dur};
  const std::string_view kind = TokenText(event.sync_kind.empty() ? event.name : event.sync_kind);
  row.kind = kind == "Stream Sync"         ? SyncKind::kStream
             : kind == "Event Sync"        ? SyncKind::kEvent
             : kind == "Stream Wait Event" ? SyncKind::kStreamWait
                                           : SyncKind::kDevice;
  row.device = Narrow(event.device);
  row.stream = event.stream;
  row.event = event.wait_on_event;
  row.event_stream = event.wait_on_stream;
  row.event_correlation = event.wait_on_record;
  row.correlation = event.correlation;
  shard_.Add(row);
}

// Adds one end of an arrow. Ids that are texts get a stand-in number, so that both ends still meet.
void EventRows::AddFlow(const EventFields& event, bool start) {
  FlowEndRow row{.start = start};
  const std::string_view category = TokenText(event.cat);
  row.kind = category == "ac2g" || category == "async_cpu_to_gpu" || category == "async_gpu" ||
                     category == "cpu_to_cuda" || category == "async_cpu_to_mlu" || category == "async_npu"
                 ? FlowKind::kLaunch
             : category == "fwdbwd" ? FlowKind::kForwardBackward
                                    : FlowKind::kOther;
  row.id = TokenInt(event.id);
  if (row.id == kAbsent) row.id = StandIn(event.id);
  row.tid = ThreadOf(event.tid);
  row.ts_ns = TokenNs(event.ts);
  if (row.ts_ns == kAbsent) return;
  shard_.Add(row);
}

void EventRows::AddInstant(const EventFields& event, uint64_t offset) {
  if (TokenText(event.name) != "[memory]") return Tell(Note::kInstant, offset);
  MemoryEventRow row;
  row.ts_ns = TokenNs(event.ts);
  if (row.ts_ns == kAbsent || event.bytes == kAbsent) return Tell(Note::kBadTime, offset);
  row.bytes = event.bytes;
  row.action = event.bytes < 0 ? MemoryAction::kFree : MemoryAction::kAlloc;
  row.device_type = event.device_type > 0 && event.device_type < 256 ? static_cast<uint8_t>(event.device_type) : 0;
  row.device = event.device < 0 ? kAbsent32 : Narrow(event.device);
  row.pid = ProcessOf(event.pid), row.tid = ThreadOf(event.tid);
  row.address = event.address, row.total_allocated = event.total_allocated, row.total_reserved = event.total_reserved;
  shard_.Add(row);
}

// "GPU 0 Counters": the process under which the hardware's counters stand names their device.
int32_t EventRows::CounterDevice(const EventFields& event) {
  if (event.device != kAbsent) return Narrow(event.device);
  std::string_view text = TokenText(event.pid);
  if (!text.starts_with("GPU ")) return kAbsent32;
  text.remove_prefix(4);
  return Narrow(TokenInt(text.substr(0, text.find(' '))));
}

// Adds a counter for each numeric argument of the event, named "event.argument".
void EventRows::AddCounter(const EventFields& event, uint64_t offset) {
  const int64_t ts = TokenNs(event.ts);
  if (ts == kAbsent) return Tell(Note::kBadTime, offset);
  const std::string name = Unescape(TokenText(event.name));
  for (int i = 0; i < event.value_count; ++i) {
    const double value = TokenReal(event.values[static_cast<size_t>(i)].token);
    if (value != value) continue;
    const std::string key = Unescape(event.values[static_cast<size_t>(i)].key);
    const bool is_whole_name = key.empty() || key == name || key == "value";
    const std::string full = is_whole_name ? name : StrCat(name, '.', key);
    shard_.Add(CounterRow{.name = shard_.Text(full), .device = CounterDevice(event), .ts_ns = ts, .value = value});
  }
}

void EventRows::AddMetadata(const EventFields& event) {
  const std::string_view what = TokenText(event.name);
  const std::string name = Unescape(TokenText(event.args_name));
  if (name.empty()) return;
  if (what == "thread_name") thread_names_[{ProcessOf(event.pid), ThreadOf(event.tid)}] = name;
  if (what == "process_name") process_names_[ProcessOf(event.pid)] = name;
}

// Escapes are rare, so only texts with a backslash are copied.
StringId EventRows::Text(std::string_view token) {
  const std::string_view text = TokenText(token);
  if (text.find('\\') == std::string_view::npos) return shard_.Text(text);
  return shard_.Text(Unescape(text));
}

StringId EventRows::Shapes(std::string_view json) {
  if (json.empty() || json == "[]" || json == "\"\"") return StringId::kNone;
  if (json.find('\n') == std::string_view::npos) return shard_.Text(json);
  std::string compact;
  for (const char c : json)
    if (c != '\n' && c != '\r' && c != ' ' && c != '\t') compact += c;
  return shard_.Text(compact);
}

// Finds the user's line once per distinct stack: the same stack repeats for every operator of a step.
StringId EventRows::StackLine(std::string_view token) {
  const std::string_view stack = TokenText(token);
  if (stack.empty()) return StringId::kNone;
  const auto id = static_cast<uint32_t>(stacks_.Intern(stack));
  if (id < stack_lines_.size()) return stack_lines_[id];
  stack_lines_.resize(id + 1);
  return stack_lines_[id] = shard_.Text(UserLine(Unescape(stack)));
}

void EventRows::ForgetStackLines() {
  if (!stack_lines_.empty()) shard_.ForgetSourceLines(SliceCategory::kPython, stack_lines_);
}

// A process named by a text gets a stand-in number, and the text as its name.
int64_t EventRows::ProcessOf(std::string_view token) {
  const int64_t number = TokenInt(token);
  if (number != kAbsent || token.empty()) return number == kAbsent ? 0 : number;
  const int64_t stand_in = StandIn(token);
  process_names_.try_emplace(stand_in, Unescape(TokenText(token)));
  return stand_in;
}

int64_t EventRows::ThreadOf(std::string_view token) {
  const int64_t number = TokenInt(token);
  if (number != kAbsent) return number;
  return token.empty() ? 0 : StandIn(token);
}

}  // namespace gapless::internal::kineto
