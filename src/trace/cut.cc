// SPDX-License-Identifier: Apache-2.0
// Finds the rows of each table that lie in the stretch, and renumbers the ids that name rows of such tables.
#include "trace/cut.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace gapless::internal {
namespace {

struct Rows {
  size_t first = 0, last = 0;
  size_t size() const { return last - first; }
};

Rows RowsFrom(const Column<int64_t>& ts_ns, int64_t start_ns, int64_t end_ns) {
  const auto at = [&](int64_t ns) {
    return static_cast<size_t>(std::lower_bound(ts_ns.begin(), ts_ns.end(), ns) - ts_ns.begin());
  };
  return {at(start_ns), std::max(at(start_ns), at(end_ns))};
}

class Cutter {
 public:
  Cutter(const std::shared_ptr<const Trace>& whole, const Stretch& stretch)
      : whole_(whole), stretch_(stretch), slices_(RowsIn(whole->slices.ts_ns)), steps_(RowsIn(whole->steps.ts_ns)) {
    const GpuOpTable& ops = whole->gpu_ops;
    gpu_ops_ = {0, RowsIn(ops.ts_ns).last};
    while (gpu_ops_.first < gpu_ops_.last && !BeginsWithin(gpu_ops_.first)) ++gpu_ops_.first;
  }

  CutTrace Run() {
    auto trace = std::make_shared<Trace>();
    TakeShared(*trace);
    trace->slices = Part(whole_->slices, slices_);
    trace->gpu_ops = Part(whole_->gpu_ops, gpu_ops_);
    trace->steps = Part(whole_->steps, steps_);
    const Rows syncs = RowsIn(whole_->syncs.ts_ns), collectives = RowsIn(whole_->collectives.ts_ns);
    const Rows annotations = RowsIn(whole_->gpu_annotations.ts_ns);
    trace->syncs = Part(whole_->syncs, syncs);
    trace->collectives = Part(whole_->collectives, collectives);
    trace->gpu_annotations = Part(whole_->gpu_annotations, annotations);
    trace->memory_events = Part(whole_->memory_events, {0, whole_->memory_events.size()});
    DeriveDepths(trace->slices);
    MarkCutOff(trace->steps);
    const auto row = [](Rows rows) { return static_cast<int64_t>(rows.first); };
    return {.trace = std::move(trace),
            .rows = {.slice = row(slices_),
                     .gpu_op = row(gpu_ops_),
                     .gpu_annotation = row(annotations),
                     .sync = row(syncs),
                     .collective = row(collectives),
                     .step = row(steps_)}};
  }

 private:
  Rows RowsIn(const Column<int64_t>& ts_ns) const { return RowsFrom(ts_ns, stretch_.start_ns, stretch_.end_ns); }

  bool BeginsWithin(size_t op) const {
    const SliceId launch = whole_->gpu_ops.launch[op];
    return launch.valid() ? launch.value >= slices_.first : whole_->gpu_ops.ts_ns[op] >= stretch_.start_ns;
  }

  // Copies the facts about the process, and refers to the texts of the whole.
  void TakeShared(Trace& trace) const {
    trace.info = whole_->info;
    std::vector<std::string_view> texts(whole_->strings.size());
    for (size_t id = 0; id < texts.size(); ++id) texts[id] = whole_->strings[static_cast<StringId>(id)];
    trace.strings = StringPool::FromViews(std::move(texts), whole_);
    trace.threads = whole_->threads, trace.devices = whole_->devices;
    trace.flows = whole_->flows, trace.counters = whole_->counters;
    trace.kernel_metrics = whole_->kernel_metrics, trace.kernel_lines = whole_->kernel_lines;
    trace.host_functions = whole_->host_functions;
    trace.memory_blocks = whole_->memory_blocks, trace.stacks = whole_->stacks, trace.samples = whole_->samples;
    trace.os_calls = whole_->os_calls, trace.thread_runs = whole_->thread_runs;
    trace.page_faults = whole_->page_faults;
    trace.comm_benchmarks = whole_->comm_benchmarks, trace.comm_channels = whole_->comm_channels;
    trace.comm_calls = whole_->comm_calls, trace.comm_messages = whole_->comm_messages;
    trace.environment = whole_->environment, trace.read_stats = whole_->read_stats;
  }

  const Rows& RowsOf(SliceId) const { return slices_; }
  const Rows& RowsOf(GpuOpId) const { return gpu_ops_; }
  const Rows& RowsOf(StepId) const { return steps_; }

  template <class T>
  Column<T> PartOf(const Column<T>& column, Rows rows) const {
    return column.Part(rows.first, rows.size());
  }
  template <class Tag>
    requires(!std::is_same_v<RowId<Tag>, ThreadId> && !std::is_same_v<RowId<Tag>, StackId>)
  Column<RowId<Tag>> PartOf(const Column<RowId<Tag>>& column, Rows rows) const {
    using Id = RowId<Tag>;
    const Rows& within = RowsOf(Id());
    auto part = Column<Id>::OfSize(rows.size());
    Id* out = part.mutable_data();
    for (size_t row = rows.first; row < rows.last; ++row, ++out) {
      const Id id = column[row];
      *out = id.valid() && id.value >= within.first && id.value < within.last ? Id(id.value - within.first) : Id();
    }
    return part;
  }

  template <class Table>
  Table Part(const Table& whole, Rows rows) const {
    Table part = whole;
    Table::Visit(part, [&](std::string_view, auto& column) { column = PartOf(column, rows); });
    return part;
  }

  static void DeriveDepths(SliceTable& slices) {
    auto depths = Column<uint16_t>::OfSize(slices.size());
    uint16_t* depth = depths.mutable_data();
    for (size_t row = 0; row < slices.size(); ++row)
      if (const SliceId parent = slices.parent[row]; parent.valid())
        depth[row] = static_cast<uint16_t>(std::min(depth[parent.value] + 1, 65535));
    slices.depth = std::move(depths);
  }

  void MarkCutOff(StepTable& steps) const {
    std::vector<uint8_t> complete(steps.complete.begin(), steps.complete.end());
    for (size_t row = 0; row < complete.size(); ++row)
      if (steps_.first + row < stretch_.first.value || steps_.first + row > stretch_.last.value) complete[row] = 0;
    steps.complete = std::move(complete);
  }

  const std::shared_ptr<const Trace>& whole_;
  const Stretch stretch_;
  const Rows slices_, steps_;
  Rows gpu_ops_{};
};

}  // namespace

CutTrace Cut(const std::shared_ptr<const Trace>& whole, const Stretch& stretch) { return Cutter(whole, stretch).Run(); }

}  // namespace gapless::internal
