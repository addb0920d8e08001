// SPDX-License-Identifier: Apache-2.0
// Kernels, copies and fills of AMD's devices, calls of HIP and HSA, ranges of roctx, memory and counters.
//
// The runtime fills and copies small blocks by kernels of its own: they are fills and copies here, as the recorders
// that link to the runtime have them. A range of roctx without a length is a mark, which has no place in the tables.
#include "ingest/readers/rocpd/meaning.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "ingest/refine.h"
#include "ingest/steps.h"

namespace gapless::internal::rocm {
namespace {

constexpr int64_t kMaxDurationNs = int64_t{86'400} * 1'000'000'000;  // a day: longer than any recording
constexpr int64_t kProcessStride = int64_t{1} << 44;                 // correlations of a process

struct Direction {
  std::string_view sign, name;
  CopyKind kind;
};
// Signs in capitals without separators. Several may stand in one text, so the order counts.
constexpr Direction kDirections[] = {{"HOSTTODEVICE", "Memcpy HtoD", CopyKind::kHtoD},
                                     {"DEVICETOHOST", "Memcpy DtoH", CopyKind::kDtoH},
                                     {"DEVICETODEVICE", "Memcpy DtoD", CopyKind::kDtoD},
                                     {"HOSTTOHOST", "Memcpy HtoH", CopyKind::kHtoH}};

std::string Letters(std::string_view text) {
  std::string letters;
  for (const char c : text)
    if (Lower(c) >= 'a' && Lower(c) <= 'z') letters += static_cast<char>(Lower(c) - 'a' + 'A');
  return letters;
}

bool Says(std::string_view domain, std::string_view word) { return ContainsIgnoreCase(domain, word); }

SliceCategory CategoryOf(std::string_view domain) {
  if (Says(domain, "marker") || Says(domain, "roctx") || Says(domain, "user")) return SliceCategory::kAnnotation;
  if (Says(domain, "hsa")) return SliceCategory::kDriver;
  return Says(domain, "hip") ? SliceCategory::kRuntime : SliceCategory::kOther;
}

int32_t Small(int64_t value) { return value < 0 || value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value); }

// Work groups along one side of a grid of work items.
int32_t Groups(int64_t items, int64_t group) {
  return items <= 0 || group <= 0 ? kAbsent32 : Small((items - 1) / group + 1);
}

std::string Sides(const std::array<int32_t, 3>& sides) {
  return StrCat("(", sides[0], ", ", sides[1], ", ", sides[2], ")");
}

}  // namespace

void Meaning::BeginProcess() {
  ++processes_;
  blocks_.clear();
}

int64_t Meaning::Unique(int64_t correlation) const {
  if (correlation <= 0 || correlation >= kProcessStride || processes_ > 1 << 16) return kAbsent;
  return correlation + std::max<int64_t>(0, processes_ - 1) * kProcessStride;
}

// Counts a row, and returns false without a usable time.
bool Meaning::TimeOf(int64_t start, int64_t end) {
  ++events_;
  const bool usable = start != kAbsent && end != kAbsent && start > 0 && end >= start && end <= INT64_MAX / 2 &&
                      end - start <= kMaxDurationNs;
  bad_times_ += usable ? 0 : 1;
  return usable;
}

void Meaning::Place(const Work& work, GpuOpRow& row) const {
  row.device = work.device == kAbsent32 ? 0 : work.device;
  row.stream = work.stream != kAbsent ? work.stream : work.queue != kAbsent ? work.queue : 0;
  row.channel = Small(work.queue);
  row.correlation = Unique(work.correlation);
}

void Meaning::AddKernel(GpuOpRow row) {
  const auto [known, first] = kernels_.try_emplace(static_cast<uint32_t>(row.name));
  if (first) known->second = ClassifyKernel(std::string(shard_.strings[row.name]));
  row.op_class = known->second.op_class, row.matrix_unit = known->second.matrix_unit;
  row.precision = known->second.precision;
  shard_.Add(row);
  if (row.op_class != GpuOpClass::kCommunication) return;
  shard_.Add(CollectiveRow{.name = row.name,
                           .kind = shard_.Text(CollectiveKind(std::string(shard_.strings[row.name]))),
                           .device = row.device,
                           .stream = row.stream,
                           .ts_ns = row.ts_ns,
                           .dur_ns = row.dur_ns});
}

void Meaning::Add(const Dispatch& of) {
  if (!TimeOf(of.work.start, of.work.end)) return;
  GpuOpRow row{.name = shard_.Name(of.name), .ts_ns = of.work.start, .dur_ns = of.work.end - of.work.start};
  Place(of.work, row);
  const auto& [grid, group] = std::pair(of.grid, of.workgroup);
  row.grid_x = Groups(grid[0], group[0]), row.grid_y = Groups(grid[1], group[1]);
  row.grid_z = Groups(grid[2], group[2]);
  row.block_x = Small(group[0]), row.block_y = Small(group[1]), row.block_z = Small(group[2]);
  row.registers = Small(of.registers), row.shared_bytes = Small(of.shared_bytes);
  const bool fills = of.name.starts_with("__amd_rocclr_fillBuffer");
  if (!fills && !of.name.starts_with("__amd_rocclr_copyBuffer")) return AddKernel(row);
  row.kind = fills ? GpuOpKind::kMemset : GpuOpKind::kMemcpy, row.op_class = GpuOpClass::kCopy;
  if (!fills) row.copy_kind = CopyKind::kOther;  // the kernel copies in any direction
  shard_.Add(row);
}

void Meaning::Add(const Copy& copy) {
  if (!TimeOf(copy.work.start, copy.work.end)) return;
  const std::string letters = Letters(copy.direction);
  const auto* const known = std::ranges::find_if(
      kDirections, [&](const Direction& direction) { return letters.find(direction.sign) != letters.npos; });
  GpuOpRow row{.name = StringId::kNone,
               .kind = GpuOpKind::kMemcpy,
               .ts_ns = copy.work.start,
               .dur_ns = copy.work.end - copy.work.start};
  row.op_class = GpuOpClass::kCopy, row.copy_kind = CopyKind::kOther;
  std::string_view name = copy.direction.empty() ? std::string_view("Memcpy") : copy.direction;
  if (known != std::end(kDirections)) name = known->name, row.copy_kind = known->kind;
  if (row.copy_kind == CopyKind::kDtoD && copy.between_devices) name = "Memcpy PtoP", row.copy_kind = CopyKind::kPtoP;
  row.name = shard_.Name(name);
  if (copy.bytes >= 0) row.bytes = copy.bytes;
  Place(copy.work, row);
  shard_.Add(row);
}

void Meaning::Add(const Call& call) {
  if (!TimeOf(call.start, call.end)) return;
  SliceRow row{.name = shard_.Name(call.name),
               .category = CategoryOf(call.domain),
               .pid = call.pid,
               .tid = call.tid,
               .ts_ns = call.start,
               .dur_ns = call.end - call.start};
  if (row.category == SliceCategory::kAnnotation) {
    if (row.dur_ns == 0) return void(++marks_);
  } else {
    const auto [known, first] = calls_.try_emplace(static_cast<uint32_t>(row.name), ApiKind::kNone);
    if (first && row.category != SliceCategory::kOther) known->second = ClassifyApi(call.name);
    row.api = known->second;
    row.correlation = Unique(call.correlation);
  }
  shard_.Add(row);
}

// A row has the size of a block where it is taken, and its address alone where it is given back. Totals are lower
// bounds: what was taken before the recording began is not known.
void Meaning::Add(const Allocation& row) {
  ++events_;
  if (row.time == kAbsent || row.time <= 0) return void(++bad_times_);
  if (row.is_free) {
    const auto block = blocks_.find(row.address);
    if (block == blocks_.end()) return;
    int64_t& total = allocated_[block->second.first];
    total = std::max<int64_t>(0, total - block->second.second);
    AddSample(block->second.first == kAbsent32 ? "HIP host memory" : "HIP memory", block->second.first, row.time,
              static_cast<double>(total));
    blocks_.erase(block);
    return;
  }
  int64_t& total = allocated_[row.device];
  if (row.bytes < 0 || !blocks_.try_emplace(row.address, row.device, row.bytes).second ||
      __builtin_add_overflow(total, row.bytes, &total))
    return;
  AddSample(row.device == kAbsent32 ? "HIP host memory" : "HIP memory", row.device, row.time,
            static_cast<double>(total));
}

void Meaning::AddSample(std::string_view name, int32_t device, int64_t time, double value) {
  if (time <= 0 || time > INT64_MAX / 2 || !std::isfinite(value)) return void(++bad_times_);
  const bool is_memory = name.starts_with("HIP ");
  CounterRow row{.name = shard_.Name(name), .device = device, .ts_ns = time, .value = value};
  if (is_memory) row.unit = shard_.Text("bytes");
  shard_.Add(row);
}

void Meaning::AddCounter(std::string_view kernel, int64_t dispatch, std::string_view counter, double value) {
  ++events_;
  if (!std::isfinite(value)) return;
  Measured& measured = measured_[{std::max<int64_t>(0, processes_ - 1), dispatch}];
  if (measured.kernel.empty()) measured.kernel = kernel;
  const auto at = measured.values.find(counter);
  if (at == measured.values.end())
    measured.values.emplace(counter, value);
  else
    at->second += value;
}

void Meaning::DescribeMeasured(const Dispatch& row, int64_t dispatch) {
  Measured& measured = measured_[{std::max<int64_t>(0, processes_ - 1), dispatch}];
  if (measured.kernel.empty()) measured.kernel = row.name;
  const auto& group = row.workgroup;
  const std::array<int32_t, 3> block{Small(group[0]), Small(group[1]), Small(group[2])};
  if (row.grid[0] > 0 && row.grid[1] > 0 && row.grid[2] > 0 && block[0] > 0 && block[1] > 0 && block[2] > 0) {
    measured.texts["grid"] =
        Sides({Groups(row.grid[0], group[0]), Groups(row.grid[1], group[1]), Groups(row.grid[2], group[2])});
    measured.texts["block"] = Sides(block);
  }
  if (row.registers > 0) measured.values["launch__registers_per_thread"] = static_cast<double>(row.registers);
  if (row.shared_bytes >= 0) measured.values["launch__shared_mem_per_block"] = static_cast<double>(row.shared_bytes);
  if (row.work.start > 0 && row.work.end >= row.work.start && row.work.end - row.work.start <= kMaxDurationNs)
    measured.values["duration"] = static_cast<double>(row.work.end - row.work.start);
}

void Meaning::LeaveOut(std::string_view what, int64_t rows) {
  if (rows > 0) left_out_[std::string(what)] += rows;
}

void Meaning::Finish() {
  builder_.info().event_count += events_;
  builder_.Count("bad_times", Severity::kLoss, bad_times_, kAbsent,
                 "rows without a usable time, or that last over a day, were left out");
  builder_.Count("marks", Severity::kInfo, marks_, kAbsent, "marks without a length are not part of the tables");
  builder_.Count("processes", Severity::kInfo, processes_ > 1 ? processes_ : 0, kAbsent,
                 "processes are in this one recording; their correlation ids were made distinct");
  std::string left_out;
  int64_t rows_left_out = 0;
  for (const auto& [what, rows] : left_out_) {
    left_out += StrCat(left_out.empty() ? "" : ", ", what);
    rows_left_out += rows;
  }
  builder_.Count("tables_left_out", Severity::kInfo, rows_left_out, kAbsent,
                 StrCat("rows that are not read: ", left_out));
  int64_t index = 0;
  for (const auto& [of, measured] : measured_) {
    const int64_t launch = processes_ > 1 || of.second < 0 ? index : of.second;
    ++index;
    for (const auto& [metric, text] : measured.texts)
      builder_.AddKernelMetric(
          {.kernel_name = measured.kernel, .launch_index = launch, .metric = metric, .text = text});
    for (const auto& [metric, value] : measured.values) {
      KernelMetricRow row{.kernel_name = measured.kernel, .launch_index = launch, .metric = metric, .value = value};
      if (metric == "duration") row.unit = "ns";
      builder_.AddKernelMetric(row);
    }
  }
}

void AddAgent(const Agent& agent, TraceBuilder& builder) {
  if (agent.device == kAbsent32) return;
  DeviceRow row{.device = agent.device, .vendor = Vendor::kAmd};
  row.name = agent.name, row.arch = agent.arch;
  if (agent.compute_units > 0) row.sm_count = Small(agent.compute_units);
  if (agent.memory_bytes > 0) row.memory_bytes = agent.memory_bytes;
  if (agent.clock_mhz > 0 && agent.clock_mhz < 100'000) row.clock_khz = agent.clock_mhz * 1000;
  builder.AddDevice(row);
}

void CompleteTrace(Trace& trace) {
  FindSteps(trace);
  RefineGpuOpClasses(trace);
}

}  // namespace gapless::internal::rocm
