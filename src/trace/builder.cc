// SPDX-License-Identifier: Apache-2.0
// Implements the shards of TraceBuilder, which append rows to segments. finish.cc merges them.
//
// Host slices, GPU operations and memory events, the bulk of every recording, are stored column by column; the smaller
// tables row by row. Adding a row allocates memory only once per 16,384 rows. Dropping a chunk sets the row counts
// back; texts and threads that it brought stay.
#include "trace/builder.h"

#include <algorithm>

#include "trace/builder_impl.h"

namespace gapless::internal {

namespace {

template <class Store, class Row>
void AddRow(Store& store, const Row& row) {
  VisitPairs<Store, Row>([&](auto column, auto field) { (store.*column).Add(store.rows, row.*field); });
  ++store.rows;
}

template <class Store, class Row>
void AddRow(Store& store, const Row& row, uint32_t thread) {
  store.thread.Add(store.rows, thread);
  AddRow(store, row);
}

// Returns the row with its texts in `strings`.
template <template <template <class> class> class Columns>
Columns<InDraft> Interned(const Columns<InTextView>& row, StringPool& strings) {
  Columns<InDraft> interned;
  VisitPairs<Columns<InTextView>, Columns<InDraft>>([&](auto from, auto to) {
    if constexpr (std::is_same_v<decltype(row.*from), const std::string_view&>)
      interned.*to = strings.Intern(row.*from);
    else
      interned.*to = row.*from;
  });
  return interned;
}

}  // namespace

// Returns the shard's own number of a thread. The last thread is remembered, because rows of one thread come in
// runs.
uint32_t TraceBuilder::Shard::Impl::ThreadIndex(int64_t pid, int64_t tid) {
  const ThreadKey key{pid, tid};
  if (last_thread < threads.size() && threads[last_thread] == key) return last_thread;
  const auto [it, is_new] = thread_index.try_emplace(key, static_cast<uint32_t>(threads.size()));
  if (is_new) threads.push_back(key);
  return last_thread = it->second;
}

std::array<uint32_t, kLists> TraceBuilder::Shard::Impl::Sizes() const {
  const auto n = [](size_t size) { return static_cast<uint32_t>(size); };
  return {n(slices.rows),        n(gpu_ops.rows),        n(gpu_annotations.size()), n(syncs.size()),
          n(collectives.size()), n(steps.size()),        n(flows.size()),           n(counters.size()),
          n(memory_events.rows), n(samples.size()),      n(os_calls.size()),        n(thread_runs.size()),
          n(page_faults.size()), n(message_calls.size())};
}

void TraceBuilder::Shard::Impl::Truncate(const std::array<uint32_t, kLists>& sizes) {
  slices.rows = sizes[kSliceList];
  gpu_ops.rows = sizes[kGpuOpList];
  gpu_annotations.Truncate(sizes[kGpuAnnotationList]);
  syncs.Truncate(sizes[kSyncList]);
  collectives.Truncate(sizes[kCollectiveList]);
  steps.Truncate(sizes[kStepList]);
  flows.Truncate(sizes[kFlowList]);
  counters.Truncate(sizes[kCounterList]);
  memory_events.rows = sizes[kMemoryList];
  samples.Truncate(sizes[kSampleList]);
  os_calls.Truncate(sizes[kOsCallList]);
  thread_runs.Truncate(sizes[kThreadRunList]);
  page_faults.Truncate(sizes[kPageFaultList]);
  message_calls.Truncate(sizes[kMessageCallList]);
}

TraceBuilder::Shard::Shard(std::unique_ptr<Impl> given) : impl(std::move(given)) {}
TraceBuilder::Shard::~Shard() = default;

// Cuts between two characters: a byte 10xxxxxx continues one.
StringId TraceBuilder::Shard::ShortName(std::string_view name) {
  size_t end = kMaxNameBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return Text(std::string(name.substr(0, end)) + "…");
}

void TraceBuilder::Shard::BeginChunk(uint64_t order) { impl->chunks.push_back({order, impl->Sizes()}); }

void TraceBuilder::Shard::DropChunk() { impl->Truncate(impl->chunks.back().rows); }

void TraceBuilder::Shard::Add(const SliceRow& row) { AddRow(impl->slices, row, impl->ThreadIndex(row.pid, row.tid)); }
void TraceBuilder::Shard::Add(const GpuOpRow& row) { AddRow(impl->gpu_ops, row); }
void TraceBuilder::Shard::Add(const GpuAnnotationRow& row) { impl->gpu_annotations.Add(row); }
void TraceBuilder::Shard::Add(const SyncRow& row) { impl->syncs.Add(row); }
void TraceBuilder::Shard::Add(const CollectiveRow& row) { impl->collectives.Add(row); }
void TraceBuilder::Shard::AddMessageCall(const CollectiveRow& row) { impl->message_calls.Add(row); }
void TraceBuilder::Shard::Add(const StepRow& row) { impl->steps.Add(row); }
void TraceBuilder::Shard::Add(const FlowEndRow& row) { impl->flows.Add(row); }
void TraceBuilder::Shard::Add(const CounterRow& row) { impl->counters.Add(row); }
void TraceBuilder::Shard::Add(const SampleRow& row) { impl->samples.Add(row); }
void TraceBuilder::Shard::Add(const OsCallRow& row) { impl->os_calls.Add(row); }
void TraceBuilder::Shard::Add(const ThreadRunRow& row) { impl->thread_runs.Add(row); }
void TraceBuilder::Shard::Add(const PageFaultRow& row) { impl->page_faults.Add(row); }
void TraceBuilder::Shard::Add(const MemoryEventRow& row) {
  AddRow(impl->memory_events, row, impl->ThreadIndex(row.pid, row.tid));
}

void TraceBuilder::Shard::ForgetSourceLines(SliceCategory except, const std::vector<StringId>& lines) {
  std::vector<bool> forgotten(strings.size());
  for (const StringId line : lines) forgotten[static_cast<size_t>(line)] = true;
  SliceStore& slices = impl->slices;
  for (size_t row = 0; row < slices.rows; ++row)
    if (slices.category[row] != except && forgotten[static_cast<size_t>(slices.source_line[row])])
      slices.source_line.Set(row, StringId::kNone, slices.rows);
}

TraceBuilder::TraceBuilder() : impl_(std::make_unique<Impl>()) {}
TraceBuilder::~TraceBuilder() = default;

TraceBuilder::Shard& TraceBuilder::NewShard() {
  impl_->shards.push_back(std::make_unique<Shard>(std::make_unique<Shard::Impl>()));
  return *impl_->shards.back();
}

void TraceBuilder::DropShards() { impl_->shards.clear(); }

void TraceBuilder::AddDevice(DeviceRow row) { impl_->devices.push_back(std::move(row)); }

void TraceBuilder::AddKernelMetric(const KernelMetricRow& row) {
  impl_->kernel_metrics.push_back(Interned<KernelMetricColumns>(row, impl_->metric_strings));
}

void TraceBuilder::Add(const KernelLineRow& row) {
  impl_->kernel_lines.push_back(Interned<KernelLineColumns>(row, impl_->metric_strings));
}

void TraceBuilder::AddHostFunction(const HostFunctionRow& row) {
  impl_->host_functions.push_back(Interned<HostFunctionColumns>(row, impl_->metric_strings));
}

void TraceBuilder::AddMemoryBlock(const MemoryBlockRow& row) {
  AddRow(impl_->memory_blocks, Interned<MemoryBlockColumns>(row, impl_->metric_strings));
}

void TraceBuilder::Add(const CommBenchmarkRow& row) {
  impl_->comm_benchmarks.push_back(Interned<CommBenchmarkColumns>(row, impl_->metric_strings));
}

void TraceBuilder::Add(const CommChannelRow& row) {
  impl_->comm_channels.push_back(Interned<CommChannelColumns>(row, impl_->metric_strings));
}

void TraceBuilder::Add(const CommCallRow& row) {
  impl_->comm_calls.push_back(Interned<CommCallColumns>(row, impl_->metric_strings));
}

void TraceBuilder::Add(const CommMessageRow& row) {
  impl_->comm_messages.push_back(Interned<CommMessageColumns>(row, impl_->metric_strings));
}

StackId TraceBuilder::AddFrame(const StackRow& row) {
  const StackColumns<InDraft> frame = Interned<StackColumns>(row, impl_->metric_strings);
  const FrameKey key{frame.parent.value, static_cast<uint32_t>(frame.file), static_cast<uint32_t>(frame.function),
                     frame.line};
  const auto [found, is_new] = impl_->frame_index.try_emplace(key, StackId(impl_->frames.size()));
  if (is_new) impl_->frames.push_back(frame);
  return found->second;
}

void TraceBuilder::AddEnvironment(std::string_view key, std::string_view value) {
  impl_->environment.insert_or_assign(std::string(key), std::string(value));
}

void TraceBuilder::NameThread(int64_t pid, int64_t tid, std::string_view name) {
  impl_->thread_names.insert_or_assign({pid, tid}, std::string(name));
}

void TraceBuilder::NameProcess(int64_t pid, std::string_view name) {
  impl_->process_names.insert_or_assign(pid, std::string(name));
}

// Notes of one kind are added up: the gravest severity, the smallest offset and the first text count.
void TraceBuilder::Count(std::string_view kind, Severity severity, int64_t count, int64_t first_offset,
                         std::string_view text) {
  if (count == 0) return;
  ReadStatsRow& entry = impl_->stats[std::string(kind)];
  entry.kind = kind;
  entry.severity = std::max(entry.severity, severity);
  entry.count += count;
  if (first_offset != kAbsent && (entry.first_offset == kAbsent || first_offset < entry.first_offset))
    entry.first_offset = first_offset;
  if (entry.text.empty()) entry.text = text;
}

}  // namespace gapless::internal
