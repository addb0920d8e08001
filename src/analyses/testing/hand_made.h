// SPDX-License-Identifier: Apache-2.0
// Small traces written by hand, for tests: a few calls read as a timeline. Times are ns; the first event should start
// at 0.
#pragma once

#include <bit>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/intervals.h"
#include "base/strings.h"
#include "trace/builder.h"
#include "trace/run.h"

namespace gapless::internal {

inline void PrintTo(const Interval& interval, std::ostream* out) {
  *out << '[' << interval.start << ", " << interval.end << ')';
}
}  // namespace gapless::internal

namespace gapless::internal {

inline constexpr int64_t kUs = 1000, kMs = 1'000'000;  // in ns, in which recordings are written down

namespace testing {

inline constexpr int64_t kMain = 1, kBackward = 2;  // host threads
inline constexpr GpuOpDraft kComm{.op_class = GpuOpClass::kCommunication, .stream = 20};

class HandMade {
 public:
  HandMade() : shard_(builder_.NewShard()) { builder_.info().rank = kAbsent; }

  HandMade& Rank(int64_t rank, int64_t world_size = kAbsent) {
    builder_.info().rank = rank, builder_.info().world_size = world_size;
    pid_ = rank + 1;
    return *this;
  }
  // Another process, begun at that time on the wall clock: another execution of the program.
  HandMade& Process(int64_t pid, int64_t start_unix_ns) {
    builder_.info().start_unix_ns = start_unix_ns;
    pid_ = pid;
    return *this;
  }
  HandMade& Step(int64_t number, int64_t start, int64_t end, bool complete = true) {
    const std::string name = "ProfilerStep#" + std::to_string(number);
    shard_.Add(StepRow{
        .number = number, .name = shard_.Text(name), .ts_ns = start, .dur_ns = end - start, .complete = complete});
    return Annotation(name, start, end);
  }
  HandMade& Format(std::string_view format) {
    builder_.info().format = format;
    return *this;
  }
  HandMade& Host(std::string_view name) {
    builder_.info().host = name;
    return *this;
  }
  HandMade& Environment(std::string_view key, std::string_view value) {
    builder_.AddEnvironment(key, value);
    return *this;
  }
  // Adds a step as the agent reports it; the trace is then one of the agent's.
  HandMade& AgentStep(int64_t number, int64_t start, int64_t end, int64_t wait_ns = 0) {
    Format("agent");
    shard_.Add(StepRow{.number = number,
                       .ts_ns = start,
                       .dur_ns = end - start,
                       .complete = true,
                       .source = StepSource::kAgent,
                       .wait_ns = wait_ns});
    return *this;
  }
  HandMade& Counter(std::string_view name, int64_t at, double value, int32_t device = kAbsent32) {
    shard_.Add(CounterRow{.name = shard_.Text(name), .device = device, .ts_ns = at, .value = value});
    return *this;
  }
  HandMade& Operator(std::string_view name, int64_t start, int64_t end, int64_t tid = kMain,
                     std::string_view types = {}) {
    return Slice(name, SliceCategory::kOperator, ApiKind::kNone, start, end, tid, {}, types);
  }
  // An operator with what the recorder said of its inputs: JSON texts, e.g. R"([[64,3,224,224],[64,3,7,7]])".
  struct Inputs {
    std::string_view shapes{}, types{}, concrete{};
  };
  HandMade& OperatorOn(std::string_view name, int64_t start, int64_t end, Inputs inputs, int64_t tid = kMain,
                       std::string_view line = {}) {
    shard_.Add(SliceRow{.name = shard_.Text(name),
                        .category = SliceCategory::kOperator,
                        .pid = pid_,
                        .tid = tid,
                        .ts_ns = start,
                        .dur_ns = end - start,
                        .input_shapes = shard_.Text(inputs.shapes),
                        .input_types = shard_.Text(inputs.types),
                        .concrete_inputs = shard_.Text(inputs.concrete),
                        .source_line = shard_.Text(line)});
    return *this;
  }
  HandMade& Annotation(std::string_view name, int64_t start, int64_t end, int64_t tid = kMain) {
    return Slice(name, SliceCategory::kAnnotation, ApiKind::kNone, start, end, tid);
  }
  HandMade& Python(std::string_view name, int64_t start, int64_t end, std::string_view source_line,
                   int64_t tid = kMain) {
    return Slice(name, SliceCategory::kPython, ApiKind::kNone, start, end, tid, source_line);
  }
  HandMade& Loader(int64_t start, int64_t end, std::string_view iterator = "_SingleProcessDataLoaderIter",
                   std::string_view line = "train.py:41") {
    return Slice("enumerate(DataLoader)#" + std::string(iterator) + ".__next__", SliceCategory::kAnnotation,
                 ApiKind::kNone, start, end, kMain, line);
  }
  HandMade& Call(std::string_view name, ApiKind api, int64_t start, int64_t end, int64_t tid = kMain,
                 std::string_view line = {}) {
    return Slice(name, SliceCategory::kRuntime, api, start, end, tid, line);
  }

  // A call [call_start, call_end) on `tid` that puts `op` on the device, where it runs [start, end).
  struct Times {
    int64_t call_start, call_end, start, end;
  };
  HandMade& Kernel(std::string_view name, Times times, GpuOpDraft op = {}, int64_t tid = kMain) {
    op.kind = GpuOpKind::kKernel;
    return Launch("cudaLaunchKernel", ApiKind::kKernelLaunch, name, times, op, tid);
  }
  // A launch whose operation the recorder lost.
  HandMade& LostLaunch(int64_t start, int64_t end) {
    return Slice("cudaLaunchKernel", SliceCategory::kRuntime, ApiKind::kKernelLaunch, start, end, kMain, {}, {},
                 ++correlation_);
  }
  // The first operation of a graph; SameLaunch() adds the others.
  HandMade& Graph(std::string_view name, Times times, GpuOpDraft op = {}) {
    op.kind = GpuOpKind::kKernel;
    return Launch("cudaGraphLaunch", ApiKind::kGraphLaunch, name, times, op, kMain);
  }
  HandMade& Copy(CopyKind kind, Times times, GpuOpDraft op = {}, int64_t tid = kMain) {
    op.kind = GpuOpKind::kMemcpy;
    op.op_class = GpuOpClass::kCopy;
    op.copy_kind = kind;
    return Launch("cudaMemcpyAsync", ApiKind::kMemcpy, "Memcpy", times, op, tid);
  }
  HandMade& OsCall(std::string_view name, int64_t start, int64_t end, int64_t tid = kMain) {
    shard_.Add(OsCallRow{.name = shard_.Text(name), .pid = pid_, .tid = tid, .ts_ns = start, .dur_ns = end - start});
    return *this;
  }
  HandMade& ThreadRun(int32_t cpu, int64_t start, int64_t end, int64_t tid = kMain) {
    shard_.Add(ThreadRunRow{.pid = pid_, .tid = tid, .cpu = cpu, .ts_ns = start, .dur_ns = end - start});
    return *this;
  }
  // A device operation whose launch was not recorded.
  HandMade& Unlaunched(std::string_view name, int64_t start, int64_t end, GpuOpDraft op = {}) {
    op.name = shard_.Text(name);
    op.ts_ns = start, op.dur_ns = end - start;
    shard_.Add(std::bit_cast<GpuOpRow>(op));  // a row of the same members
    return *this;
  }
  // Another operation of the launch made last, as in a graph.
  HandMade& SameLaunch(std::string_view name, int64_t start, int64_t end, GpuOpDraft op = {}) {
    op.correlation = correlation_;
    return Unlaunched(name, start, end, op);
  }
  HandMade& Device(DeviceRow row) {
    builder_.AddDevice(std::move(row));
    return *this;
  }
  HandMade& Collective(std::string_view kind, int64_t start, int64_t end, int64_t bytes, int32_t device = 0,
                       int64_t stream = 20, int32_t group_size = 2) {
    shard_.Add(CollectiveRow{.name = shard_.Text("nccl"),
                             .kind = shard_.Text(kind),
                             .device = device,
                             .stream = stream,
                             .ts_ns = start,
                             .dur_ns = end - start,
                             .group_size = group_size,
                             .bytes = bytes});
    return *this;
  }

  TraceBuilder::Shard& shard() { return shard_; }
  TraceBuilder& builder() { return builder_; }

  std::shared_ptr<const Trace> Finish() { return std::make_shared<const Trace>(std::move(builder_).Finish()); }

 private:
  HandMade& Slice(std::string_view name, SliceCategory category, ApiKind api, int64_t start, int64_t end, int64_t tid,
                  std::string_view line = {}, std::string_view types = {}, int64_t correlation = kAbsent) {
    shard_.Add(SliceRow{.name = shard_.Text(name),
                        .category = category,
                        .api = api,
                        .pid = pid_,
                        .tid = tid,
                        .ts_ns = start,
                        .dur_ns = end - start,
                        .correlation = correlation,
                        .input_types = shard_.Text(types),
                        .source_line = shard_.Text(line)});
    return *this;
  }
  HandMade& Launch(std::string_view call, ApiKind api, std::string_view name, Times times, GpuOpDraft op, int64_t tid) {
    op.correlation = ++correlation_;
    Slice(call, SliceCategory::kRuntime, api, times.call_start, times.call_end, tid, {}, {}, correlation_);
    return Unlaunched(name, times.start, times.end, op);
  }

  TraceBuilder builder_;
  TraceBuilder::Shard& shard_;
  int64_t pid_ = 1, correlation_ = 0;
};

// A table whose cells a test reads by the names of their columns. The program reads them through analyses/typed_rows.h.
class TableByName {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a table may be passed wherever one is read by name
  TableByName(const Table& table) : table_(&table) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const Table&() const { return *table_; }

  size_t rows() const { return table_->rows(); }
  bool IsNull(size_t row, std::string_view column) const { return table_->IsNull(row, IndexOf(column)); }
  int64_t Int(size_t row, std::string_view column) const { return table_->Int(row, IndexOf(column)); }
  double Real(size_t row, std::string_view column) const { return table_->Real(row, IndexOf(column)); }
  std::string_view Text(size_t row, std::string_view column) const { return table_->Text(row, IndexOf(column)); }

 private:
  int IndexOf(std::string_view column) const {
    const int index = table_->Find(column);
    if (index < 0) throw std::out_of_range(StrCat("table ", table_->name(), " has no column ", column));
    return index;
  }

  const Table* table_;
};

// One trace, or one per rank, as a run with its tables.
class Analysed {
 public:
  explicit Analysed(HandMade& trace) : run_({trace.Finish()}), tables_(run_) {}
  explicit Analysed(std::vector<std::shared_ptr<const Trace>> ranks) : run_(std::move(ranks)), tables_(run_) {}
  Tables& tables() { return tables_; }
  TableByName operator[](std::string_view analysis) { return tables_.Get(analysis); }

 private:
  Run run_;
  Tables tables_;
};

// The value of `column` in the only row in which `key` reads `text`; kAbsent: there is no such row, or it is Null.
inline int64_t IntWhere(const TableByName& table, std::string_view key, std::string_view text,
                        std::string_view column) {
  for (size_t row = 0; row < table.rows(); ++row)
    if (table.Text(row, key) == text) return table.IsNull(row, column) ? kAbsent : table.Int(row, column);
  return kAbsent;
}

// An operator of 10 ns at `at` and its kernel of `dur` at 10 × `at`.
inline void AddOperation(HandMade& trace, std::string_view name, GpuOpClass op_class, int64_t at, int64_t dur,
                         std::string_view shapes = {}) {
  trace.OperatorOn(name, at, at + 10, {.shapes = shapes, .types = shapes.empty() ? "" : R"(["float"])"}, kMain,
                   "model.py:7");
  trace.Kernel("kernel", {at + 1, at + 9, 10 * at + 100, 10 * at + 100 + dur}, {.op_class = op_class});
}

// A product of two matrices, and recordings of an A100, whose peaks are known.
inline constexpr HandMade::Inputs kProduct{.shapes = "[[1024,1024],[1024,1024]]",
                                           .types = R"(["c10::BFloat16","c10::BFloat16"])"};
inline constexpr double kProductFlops = 2.0 * 1024 * 1024 * 1024;
inline constexpr GpuOpDraft kMatrixKernel{.op_class = GpuOpClass::kGemm, .matrix_unit = MatrixUnit::kYes};

struct OnA100 : HandMade {
  OnA100() { Device({.device = 0, .vendor = Vendor::kNvidia, .name = "NVIDIA A100-SXM4-80GB"}); }
};

}  // namespace testing

}  // namespace gapless::internal
