// SPDX-License-Identifier: Apache-2.0
// Implements TraceBuilder::Finish: merges the shards (merge.h), fills the tables about the recording, and derives
// what follows (derive.h).
//
// The order counts: nesting comes before linking, which needs the operators around a call; linking comes before
// synchronisations and steps, which need the launches. Notes about what was derived are added last, so that
// read_stats holds everything.
#include <algorithm>

#include "trace/derive.h"
#include "trace/lost_work.h"
#include "trace/merge.h"

namespace gapless::internal {
namespace {

using merging::FillFrom;

// Fills the device table with the described devices and those only seen in gpu_op, by number, each once. Recorders
// describe the devices a process sees, counted from 0, while ROCm's operations carry the number among all of the
// host: where one is described and one other works, they are the same, and the description stands under both
// numbers (allocator events use the process's). Returns true if the one described device was renumbered.
bool MergeDevices(Trace& trace, std::vector<DeviceRow> rows) {
  std::vector<int32_t> seen(trace.gpu_ops.device.begin(), trace.gpu_ops.device.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  const bool renumbered = rows.size() == 1 && seen.size() == 1 && seen[0] >= 0 && seen[0] != rows[0].device;
  for (const int32_t device : seen) {
    rows.push_back(renumbered ? rows[0] : DeviceRow());
    rows.back().device = device;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DeviceRow& a, const DeviceRow& b) { return a.device < b.device; });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const DeviceRow& a, const DeviceRow& b) { return a.device == b.device; }),
             rows.end());
  FillFrom(rows, trace.devices, [&](std::string_view text) { return trace.strings.Intern(text); });
  return renumbered;
}

// Sets the pid of the process with the most host slices; negative stand-ins do not count.
void FindMainProcess(Trace& trace) {
  std::vector<int64_t> slices_of(trace.threads.size());
  for (const ThreadId thread : trace.slices.thread) ++slices_of[thread.value];
  std::map<int64_t, int64_t> of_process;
  for (size_t i = 0; i < slices_of.size(); ++i) of_process[trace.threads.pid[i]] += slices_of[i];
  int64_t most = 0;
  for (const auto& [pid, count] : of_process)
    if (count > most && pid >= 0) most = count, trace.info.pid = pid;
}

// Fills the table column by column, each of which is given back when it has been copied. Times get the trace's zero.
template <class Text>
void FillBlocks(StoreFor<MemoryBlockColumns>& blocks, Trace& trace, const Text& text) {
  using Store = StoreFor<MemoryBlockColumns>;
  VisitPairs<Store, MemoryBlockTable>([&](auto from, auto to) {
    using T = typename std::decay_t<decltype(trace.memory_blocks.*to)>::value_type;
    std::pair<StringId, StringId> last{};  // most rows have the text of the row before
    const auto value_of = [&](const T& value) -> T {
      if constexpr (std::is_same_v<T, StringId>)
        return value == last.first ? last.second : (last = {value, text(value)}).second;
      else if constexpr (std::is_same_v<T, int64_t>)
        return value != kAbsent && (from == &Store::alloc_ts_ns || from == &Store::free_ts_ns)
                   ? value - trace.info.origin_ns
                   : value;
      else
        return value;
    };
    auto& store = blocks.*from;
    auto& column = trace.memory_blocks.*to;
    if (store.same()) {
      if (blocks.rows > 0) column = std::decay_t<decltype(column)>::Same(blocks.rows, value_of(store[0]));
      return;
    }
    column = std::decay_t<decltype(column)>::OfSize(blocks.rows);
    T* out = column.mutable_data();
    for (size_t row = 0; row < blocks.rows; ++row) out[row] = value_of(store[row]);
    store.Free();
  });
}

}  // namespace

Trace TraceBuilder::Finish(ThreadPool* pool) && {
  Trace trace;
  trace.info = std::move(info_);
  if (impl_->shards.empty()) NewShard();
  merging::Merger merger(impl_->shards, trace, pool);
  DeriveCounts counts;
  merger.Merge(*impl_);
  counts.unmatched_flow_ends = merger.unmatched_flow_ends();
  NestSlices(trace, counts);
  LinkLaunches(trace, counts);
  JoinMessages(trace, merger.TakeMessageCalls());
  FindSyncs(trace, merger.TakeSyncs());
  const int64_t overlapping_steps = SetSteps(trace, merger.TakeSteps());
  FindMainProcess(trace);
  const bool renumbered_device = MergeDevices(trace, std::move(impl_->devices));
  const auto intern = [&](std::string_view text) { return trace.strings.Intern(text); };
  const auto intern_metric = [&](StringId id) { return intern(impl_->metric_strings[id]); };
  FillFrom(impl_->kernel_metrics, trace.kernel_metrics, intern_metric);
  FillFrom(impl_->kernel_lines, trace.kernel_lines, intern_metric);
  FillFrom(impl_->host_functions, trace.host_functions, intern_metric);
  FillFrom(impl_->frames, trace.stacks, intern_metric);
  FillBlocks(impl_->memory_blocks, trace, intern_metric);
  FillFrom(impl_->comm_benchmarks, trace.comm_benchmarks, intern_metric);
  FillFrom(impl_->comm_channels, trace.comm_channels, intern_metric);
  FillFrom(impl_->comm_calls, trace.comm_calls, intern_metric);
  FillFrom(impl_->comm_messages, trace.comm_messages, intern_metric);
  std::vector<EnvironmentRow> environment;
  for (const auto& [key, value] : impl_->environment) environment.push_back({.key = key, .value = value});
  FillFrom(environment, trace.environment, intern);
  Count("overlapping_slices", Severity::kInfo, counts.overlapping_slices, kAbsent,
        "host slices of one thread overlap without nesting; all are kept");
  Count("deep_slices", Severity::kInfo, counts.deep_slices, kAbsent,
        "host slices are nested more deeply than is tracked; they count as children of the deepest of these");
  Count("unlinked_gpu_ops", Severity::kInfo, counts.unlinked_gpu_ops, kAbsent,
        "GPU operations whose launch was not recorded");
  Count("duplicate_correlations", Severity::kInfo, counts.duplicate_correlations, kAbsent,
        "launches share a correlation id; the latest before the operation was taken");
  Count("unmatched_flow_ends", Severity::kInfo, counts.unmatched_flow_ends, kAbsent,
        "arrows with only one end recorded");
  Count("distant_rows", Severity::kLoss, merger.distant_rows(), kAbsent,
        "events more than a month away from the others were left out");
  Count(kOpsWithoutTime, Severity::kLoss, merger.ops_without_time(), kAbsent, kOpsWithoutTimeText);
  Count(kOverrunningOps, Severity::kLoss, merger.overrunning_ops(), kAbsent,
        "GPU operations that would end after the next one of their stream has ended were left out");
  Count("renumbered_devices", Severity::kInfo, static_cast<int64_t>(renumbered_device), kAbsent,
        "the only device described has another number than the only one that works; taken for the same");
  Count("overlapping_steps", Severity::kInfo, overlapping_steps, kAbsent,
        "steps that overlap an earlier one were left out");
  std::vector<ReadStatsRow> stats;
  for (const auto& [kind, entry] : impl_->stats) stats.push_back(entry);
  FillFrom(stats, trace.read_stats, intern);
  return trace;
}

}  // namespace gapless::internal
