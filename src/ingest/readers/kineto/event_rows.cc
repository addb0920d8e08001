// SPDX-License-Identifier: Apache-2.0
// Decides the kind of each event from its category and name, and adds the rows of that kind to the thread's shard.
//
// Names are judged once per distinct text and category, and found again by their interned id, so an event costs a
// few hash look-ups. Slices of unknown categories are kept, since they may be a user's own marks.
// Events without a table (instants, begin and end events) are counted.
#include "ingest/readers/kineto/event_rows.h"

#include "base/strings.h"

namespace gapless::internal::kineto {
namespace {

constexpr int64_t kMaxDurationNs = int64_t{86'400} * 1'000'000'000;  // a day: longer than any recording

// The process under which torch.autograd.profiler listed work of the device, or operators timed by events on it.
bool IsOfLegacyDevice(const EventFields& event) { return event.pid == "\"CUDA functions\""; }

}  // namespace

void EventRows::BeginChunk(uint64_t order) {
  shard_.BeginChunk(order);
  notes_.BeginChunk();
  events_before_ = events_;
  meeting_before_ = meeting_;
}

void EventRows::DropChunk() {
  shard_.DropChunk();
  notes_.DropChunk();
  events_ = events_before_;
  meeting_ = meeting_before_;
}

void EventRows::Finish(TraceBuilder& builder) const {
  notes_.Finish(builder);
  texts_.Finish(builder);
}

void EventRows::Add(const EventFields& event, uint64_t offset) {
  ++events_;
  if (event.cat == "\"gapless\"") return Tell(Note::kOwnAnnotation, offset);
  saw_phase_ |= !event.ph.empty();
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
    case 'E': return AddBeginEnd(event, offset);
    default: signs_.SeeEvent(event); return Tell(Note::kOtherPhase, offset);
  }
}

// Counts an event that only begins or ends. It shows all the same whose file it is.
void EventRows::AddBeginEnd(const EventFields& event, uint64_t offset) {
  const Category category = event.cat.empty() ? Category::kNone : CategoryOf(event.cat);
  if (category == Category::kNone || category == Category::kOther)
    signs_.SeeEvent(event);
  else
    saw_known_ = true;
  Tell(Note::kBeginEnd, offset);
}

// Adds a complete event ("X"). Spans of the recorder itself are dropped first, since they may lack usable times.
void EventRows::AddComplete(const EventFields& event, uint64_t offset) {
  Category category = event.cat.empty() ? LegacyCategoryOf(event) : CategoryOf(event.cat);
  if (category == Category::kTrace) {
    saw_framework_ |= TokenText(event.name).starts_with("PyTorch Profiler");
    return Tell(Note::kRecorderSpan, offset);
  }
  const bool is_op = category == Category::kKernel || category == Category::kMemcpy || category == Category::kMemset;
  if ((category == Category::kOther || category == Category::kNone) && IsStepName(TokenText(event.name)))
    category = Category::kAnnotation;
  const bool is_known = category != Category::kOther && category != Category::kNone;
  saw_known_ |= is_known;
  if (accelerator_.empty() && (event.cat.starts_with("\"xpu_") || event.cat.starts_with("\"hpu_")))
    accelerator_ = event.cat.starts_with("\"xpu_") ? "xpu" : "hpu";
  if (!is_known) signs_.SeeEvent(event);
  const int64_t ts = TokenNs(event.ts);
  if (ts == kAbsent) return Tell(is_op ? Note::kOpWithoutTime : Note::kBadTime, offset);
  if (event.dur.empty()) return Tell(is_op ? Note::kOpWithoutTime : Note::kMissingDuration, offset);
  int64_t dur = TokenNs(event.dur);
  if (dur == kAbsent || dur > kMaxDurationNs) return Tell(is_op ? Note::kOpWithoutTime : Note::kBadTime, offset);
  if (dur < 0) {
    Tell(Note::kNegativeDuration, offset);
    dur = 0;
  }
  if (lanes_ != nullptr) return AddOfLane(event, ts, dur);
  if (event.cat == "\"cuda_profiler_range\"") return Tell(Note::kCounterRange, offset);
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

// Adds a slice of the host. Collectives that run on the host (gloo, MPI, UCC) also become rows of their own.
void EventRows::AddSlice(const EventFields& event, Category category, int64_t ts, int64_t dur) {
  SliceRow row{.name = texts_.Name(event.name),
               .pid = texts_.ProcessOf(event.pid),
               .tid = texts_.ThreadOf(event.tid),
               .ts_ns = ts,
               .dur_ns = dur};
  const NameTraits& traits = names_.TraitsOf(row.name, category);
  row.category = SliceCategoryOf(category, traits.annotation);
  row.api =
      row.category == SliceCategory::kRuntime || row.category == SliceCategory::kDriver ? traits.api : ApiKind::kNone;
  row.external_id = event.external_id;
  row.correlation = event.correlation;
  row.sequence = event.sequence;
  const StringId function = category == Category::kPython ? traits.source_line : StringId::kNone;
  row.source_line = function != StringId::kNone     ? function
                    : !event.source_line.empty()    ? texts_.Text(event.source_line)
                    : category == Category::kPython ? texts_.StackLine(event.call_from)
                                                    : texts_.StackLine(event.call_stack);
  saw_python_ |= category == Category::kPython;
  const StringId collective = traits.host_collective;
  const bool says_message = traits.notes_collective && !event.collective.empty();
  const KnownInputs known =
      known_ != nullptr && category == Category::kOperator ? InputsOf(event, row.pid) : KnownInputs{};
  row.input_shapes = texts_.Shapes(event.input_dims.empty() ? known.shapes : event.input_dims);
  row.input_types = texts_.Shapes(event.input_types.empty() ? known.types : event.input_types);
  row.concrete_inputs = texts_.Shapes(event.concrete_inputs.empty() ? known.values : event.concrete_inputs);
  shard_.Add(row);
  if (collective != StringId::kNone && (category == Category::kOperator || category == Category::kAnnotation))
    AddHostCollective(event, row);
  if (says_message) AddMessageCall(event, row);
}

// Returns what the execution trace says about an operator, and counts how they met.
KnownInputs EventRows::InputsOf(const EventFields& event, int64_t pid) {
  if (known_->pid() != kAbsent && known_->pid() != pid) return ++meeting_.of_others, KnownInputs{};
  if (event.record_function == kAbsent) return ++meeting_.without_id, KnownInputs{};
  const ExecutionTrace::Operator* found = known_->Find(event.record_function);
  if (found == nullptr) return ++meeting_.missing, KnownInputs{};
  const std::string_view name = TokenText(event.name);
  const bool same = known_->Text(found->name) == (name.find('\\') == name.npos ? std::string(name) : Unescape(name));
  if (!same) return ++meeting_.renamed, KnownInputs{};
  ++meeting_.joined;
  return {known_->Text(found->shapes), known_->Text(found->types), known_->Text(found->values)};
}

// Returns the device of a GPU operation: its argument, else the process, under which recorders list a device's
// work. Returns -1 if neither is a number.
int32_t EventRows::DeviceOf(const EventFields& event) {
  if (event.device == kAbsent && event.cat.empty()) {
    // Without categories (LegacyCategoryOf): the thread is the device's number, or there is one device.
    const int32_t thread = Narrow(TokenInt(event.tid));
    return IsOfLegacyDevice(event) && thread != kAbsent32 ? thread : 0;
  }
  const int32_t device = Narrow(event.device != kAbsent ? event.device : TokenInt(event.pid));
  return device == kAbsent32 ? -1 : device;
}

void EventRows::AddGpuOp(const EventFields& event, Category category, int64_t ts, int64_t dur) {
  GpuOpRow row{.name = texts_.Name(event.name), .ts_ns = ts, .dur_ns = dur};
  const NameTraits& traits = names_.TraitsOf(row.name, category);
  row.kind = category == Category::kKernel   ? GpuOpKind::kKernel
             : category == Category::kMemcpy ? GpuOpKind::kMemcpy
                                             : GpuOpKind::kMemset;
  row.op_class = row.kind == GpuOpKind::kKernel ? traits.kernel.op_class : GpuOpClass::kCopy;
  row.matrix_unit = row.kind == GpuOpKind::kKernel ? traits.kernel.matrix_unit : MatrixUnit::kNo;
  row.precision = row.kind == GpuOpKind::kKernel ? traits.kernel.precision : KernelPrecision::kUnknown;
  row.copy_kind = row.kind == GpuOpKind::kMemcpy ? traits.copy : CopyKind::kNone;
  row.device = DeviceOf(event);
  row.context = Narrow(event.context);
  row.stream = event.stream;
  // Rows of the legacy profiler may lie inside each other, as those of no stream do.
  if (row.stream == kAbsent && lanes_ == nullptr && !IsOfLegacyDevice(event)) row.stream = texts_.ThreadOf(event.tid);
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

void EventRows::AddGpuAnnotation(const EventFields& event, int64_t ts, int64_t dur) {
  GpuAnnotationRow row{.name = texts_.Name(event.name), .ts_ns = ts, .dur_ns = dur};
  row.device = DeviceOf(event);
  row.stream = event.stream != kAbsent ? event.stream : texts_.ThreadOf(event.tid);
  shard_.Add(row);
}

// Adds a wait of the host. Old recorders give the kind as the event's name; unknown kinds count as waits for the
// device.
void EventRows::AddSync(const EventFields& event, int64_t ts, int64_t dur) {
  const std::string_view kind = TokenText(event.sync_kind.empty() ? event.name : event.sync_kind);
  if (kind.starts_with("GPU_BARRIER")) return;  // nobody on the host waits for it
  SyncRow row{.kind = kind == "HOST_COMMAND_LIST" || kind == "HOST_COMMAND_QUEUE" ? SyncKind::kStream
                      : kind == "HOST_EVENT"                                      ? SyncKind::kEvent
                      : kind == "Stream Sync"                                     ? SyncKind::kStream
                      : kind == "Event Sync"                                      ? SyncKind::kEvent
                      : kind == "Stream Wait Event"                               ? SyncKind::kStreamWait
                                                                                  : SyncKind::kDevice,
              .ts_ns = ts,
              .dur_ns = dur};
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
  row.tid = texts_.ThreadOf(event.tid);
  row.ts_ns = TokenNs(event.ts);
  if (row.ts_ns == kAbsent) return;
  shard_.Add(row);
}

void EventRows::AddInstant(const EventFields& event, uint64_t offset) {
  const bool is_memory = TokenText(event.name) == "[memory]";
  saw_known_ |= is_memory;
  if (!is_memory) return Tell(Note::kInstant, offset);
  const int64_t ts_ns = TokenNs(event.ts);
  if (ts_ns == kAbsent || event.bytes == kAbsent) return Tell(Note::kBadTime, offset);
  MemoryEventRow row{
      .pid = texts_.ProcessOf(event.pid), .tid = texts_.ThreadOf(event.tid), .ts_ns = ts_ns, .bytes = event.bytes};
  row.action = event.bytes < 0 ? MemoryAction::kFree : MemoryAction::kAlloc;
  row.device_type = event.device_type > 0 && event.device_type < 256 ? static_cast<uint8_t>(event.device_type) : 0;
  row.device = event.device < 0 ? kAbsent32 : Narrow(event.device);
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
  signs_.SeeText(name);
  if (what == "thread_name") texts_.NameThread(event, name);
  if (what == "process_name") texts_.NameProcess(event, name);
}

// Adds the collectives of kernels and of the host. Both have the same arguments, and a size by the same rule.

namespace {

// Returns the message size in bytes that the bus-bandwidth formula takes: what one rank ends up with (gathers) or
// puts in (everything else). Returns kAbsent if the recorder wrote no size, or the size is implausibly large.
int64_t MessageBytes(std::string_view kind, int64_t in_elements, int64_t out_elements, int64_t element_bytes) {
  const int64_t elements = kind == "all_gather" ? out_elements : in_elements;
  if (elements == kAbsent || elements < 0 || element_bytes == 0 || elements > INT64_MAX / 16) return kAbsent;
  return elements * element_bytes;
}

}  // namespace

// Returns the row of a collective without its place, with the recorder's arguments.
CollectiveRow EventRows::CollectiveOf(const EventFields& event, StringId name, StringId kind, int64_t ts_ns,
                                      int64_t dur_ns) {
  CollectiveRow row{.name = name, .kind = kind, .ts_ns = ts_ns, .dur_ns = dur_ns};
  row.group = texts_.Text(event.group_name);
  row.dtype = texts_.Text(event.dtype);
  row.group_size = Narrow(event.group_size);
  row.in_elements = event.in_elements, row.out_elements = event.out_elements;
  row.seq = event.seq;
  row.src_rank = Narrow(event.src_rank), row.dst_rank = Narrow(event.dst_rank);
  row.group_ranks = texts_.Text(event.group_ranks);
  row.bytes =
      MessageBytes(shard_.strings[kind], row.in_elements, row.out_elements, ElementBytes(shard_.strings[row.dtype]));
  return row;
}

// Adds the collective of a kernel. Its kind comes from the recorder's arguments if they name one: NCCL's kernel of
// a send or a receive has one name for both.
void EventRows::AddCollective(const EventFields& event, const NameTraits& traits, const GpuOpRow& op) {
  StringId kind = traits.collective;
  if (!event.collective.empty())
    if (const std::string_view given = CollectiveKind(TokenText(event.collective)); !given.empty())
      kind = shard_.Text(given);
  CollectiveRow row = CollectiveOf(event, op.name, kind, op.ts_ns, op.dur_ns);
  row.device = op.device, row.stream = op.stream;
  shard_.Add(row);
}

void EventRows::AddHostCollective(const EventFields& event, const SliceRow& slice) {
  CollectiveRow row = CollectiveOf(event, slice.name, shard_.Text(CollectiveKind(shard_.strings[slice.name])),
                                   slice.ts_ns, slice.dur_ns);
  row.pid = slice.pid, row.tid = slice.tid;
  shard_.Add(row);
}

void EventRows::AddMessageCall(const EventFields& event, const SliceRow& slice) {
  const std::string_view kind = CollectiveKind(TokenText(event.collective));
  if (kind != "send" && kind != "recv") return;
  CollectiveRow row = CollectiveOf(event, slice.name, shard_.Text(kind), slice.ts_ns, slice.dur_ns);
  row.pid = slice.pid, row.tid = slice.tid;
  shard_.AddMessageCall(row);
}

}  // namespace gapless::internal::kineto
