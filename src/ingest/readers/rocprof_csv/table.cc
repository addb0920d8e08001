// SPDX-License-Identifier: Apache-2.0
// Rows of tables into the meaning that all of ROCm's recordings share.
//
// A table of dispatches with counters has a row for each dispatch and a column for each counter. The profiler runs
// kernels one at a time to count, several times over where there are many counters, so such rows are measured launches
// and no timeline.
#include "ingest/readers/rocprof_csv/table.h"

#include <charconv>
#include <cmath>

#include "base/csv.h"
#include "base/strings.h"

namespace gapless::internal::rocm {
namespace {

using Fields = std::vector<std::string>;

std::string_view FieldIn(const Fields& fields, int place) {
  return place < 0 || static_cast<size_t>(place) >= fields.size()
             ? std::string_view()
             : std::string_view(fields[static_cast<size_t>(place)]);
}

double RealIn(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? value : kNan;
}

// Whole numbers, also as "64.0" and "0x7f…".
int64_t WholeIn(std::string_view text) {
  if (text.starts_with("0x")) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    return error == std::errc() && end == text.data() + text.size() ? static_cast<int64_t>(value) : kAbsent;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  const double real = RealIn(text);
  return std::isfinite(real) && std::abs(real) < 9e15 ? static_cast<int64_t>(real) : kAbsent;
}

class Rows {
 public:
  Rows(const Head& head, Gpus& gpus, TraceBuilder& builder, Meaning& meaning)
      : head_(head), gpus_(gpus), builder_(builder), meaning_(meaning) {}

  void Add(const Fields& fields) {
    fields_ = &fields;
    switch (head_.form) {
      case Form::kDispatches: return AddDispatch();
      case Form::kCounters: return AddCounter();
      case Form::kCopies: return AddCopy();
      case Form::kCalls: return AddCall();
      case Form::kAllocations: return AddAllocation();
      case Form::kScratch: return meaning_.LeaveOut("scratch memory");
      case Form::kSummary: return AddSummary();
      case Form::kAgents:
      case Form::kNone: return;
    }
  }

 private:
  std::string_view Text(Column column) const { return FieldIn(*fields_, head_.PlaceOf(column)); }
  int64_t Whole(Column column) const {
    return head_.Has(column) && !Text(column).empty() ? WholeIn(Text(column)) : kAbsent;
  }

  Work WorkOf(int32_t device) const {
    return {.start = Whole(Column::kStart),
            .end = Whole(Column::kEnd),
            .correlation = Whole(Column::kCorrelation),
            .stream = Whole(Column::kStream),
            .queue = Whole(Column::kQueue),
            .device = device};
  }

  // Older tables have one number for all sides.
  Dispatch DispatchOf() {
    Dispatch row{.work = WorkOf(gpus_.DeviceOf(Text(Column::kAgent))), .name = Text(Column::kKernel)};
    for (const std::string_view ending : {" [clone .kd]", " (.kd)", ".kd"})
      if (row.name.ends_with(ending)) row.name.remove_suffix(ending.size());
    row.grid = {Whole(Column::kGridX), Whole(Column::kGridY), Whole(Column::kGridZ)};
    row.workgroup = {Whole(Column::kGroupX), Whole(Column::kGroupY), Whole(Column::kGroupZ)};
    if (row.grid[0] == kAbsent) row.grid = {Whole(Column::kGrid), 1, 1};
    if (row.workgroup[0] == kAbsent) row.workgroup = {Whole(Column::kGroup), 1, 1};
    row.registers = Whole(Column::kRegisters), row.shared_bytes = Whole(Column::kShared);
    return row;
  }

  void AddDispatch() {
    const Dispatch row = DispatchOf();
    if (head_.counters.empty()) return meaning_.Add(row);
    const int64_t number = Whole(Column::kDispatch) == kAbsent ? rows_++ : Whole(Column::kDispatch);
    meaning_.DescribeMeasured(row, number);
    for (const auto& [place, name] : head_.counters)
      meaning_.AddCounter(row.name, number, name, RealIn(FieldIn(*fields_, place)));
  }

  void AddCounter() {
    const Dispatch row = DispatchOf();
    const int64_t number = Whole(Column::kDispatch) == kAbsent ? rows_++ : Whole(Column::kDispatch);
    meaning_.DescribeMeasured(row, number);
    meaning_.AddCounter(row.name, number, Text(Column::kCounter), RealIn(Text(Column::kValue)));
  }

  void AddCopy() {
    const int32_t to = gpus_.DeviceOf(Text(Column::kTo)), from = gpus_.DeviceOf(Text(Column::kFrom));
    const bool to_host = ContainsIgnoreCase(Text(Column::kDirection), "to_host");
    Copy row{
        .work = WorkOf(to_host ? from : to), .direction = Text(Column::kDirection), .bytes = Whole(Column::kBytes)};
    row.between_devices = ContainsIgnoreCase(Text(Column::kDirection), "device_to_device") && to != from;
    meaning_.Add(row);
  }

  void AddCall() {
    const int64_t pid = Whole(Column::kProcess), tid = Whole(Column::kThread);
    meaning_.Add(Call{.name = Text(Column::kFunction),
                      .domain = Text(Column::kDomain),
                      .pid = pid == kAbsent ? 0 : pid,
                      .tid = tid == kAbsent ? 0 : tid,
                      .start = Whole(Column::kStart),
                      .end = Whole(Column::kEnd),
                      .correlation = Whole(Column::kCorrelation)});
  }

  void AddAllocation() {
    const std::string_view operation = Text(Column::kOperation);
    meaning_.Add(Allocation{.device = gpus_.DeviceOf(Text(Column::kAgent)),
                            .is_free = ContainsIgnoreCase(operation, "free"),
                            .time = Whole(Column::kStart),
                            .address = Whole(Column::kAddress),
                            .bytes = Whole(Column::kSize)});
  }

  // Kernels go to the metrics, as mean over their calls; calls of the host are functions of the host.
  void AddSummary() {
    const int64_t calls = Whole(Column::kCalls), total = Whole(Column::kTotal);
    const std::string_view name = Text(Column::kName);
    if (calls <= 0 || total < 0 || name.empty()) return meaning_.LeaveOut("rows without calls or a total");
    if (IsOfHost(name))
      return builder_.AddHostFunction({.file = "", .function = name, .calls = calls, .total_ns = total});
    const auto add = [&](std::string_view metric, double value, std::string_view unit) {
      builder_.AddKernelMetric(
          {.kernel_name = name, .launch_index = rows_, .metric = metric, .value = value, .unit = unit});
    };
    add("summary.calls", static_cast<double>(calls), "");
    add("summary.total", static_cast<double>(total), "ns");
    add("duration", static_cast<double>(total) / static_cast<double>(calls), "ns");
    ++rows_;
  }

  // "hipMemcpy", "hsa_signal_wait", "ncclAllReduce", "HIP_API": a call, or a whole interface.
  static bool IsOfHost(std::string_view name) {
    const auto is_call = [&](std::string_view prefix) {
      return name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= 'A' &&
             name[prefix.size()] <= 'Z' && name.find_first_of("<( ") == name.npos;
    };
    return is_call("hip") || is_call("__hip") || name.starts_with("hsa_") || is_call("roctx") ||
           (is_call("nccl") && name.find("Kernel") == name.npos) || name.ends_with("_API");
  }

  const Head& head_;
  Gpus& gpus_;
  TraceBuilder& builder_;
  Meaning& meaning_;
  const Fields* fields_ = nullptr;
  int64_t rows_ = 0;
};

}  // namespace

void Gpus::Learn(std::string_view text, TraceBuilder& builder) {
  CsvReader csv(text);
  Fields fields;
  if (!csv.Next(fields)) return;
  const Head head = HeadOf(fields);
  std::map<int64_t, Fields> agents;
  while (csv.Next(fields)) {
    const int64_t number = WholeIn(FieldIn(fields, head.PlaceOf(Column::kAgentNumber)));
    if (number >= 0) agents.emplace(number, fields);
  }
  int32_t next = 0;
  for (const auto& [number, of] : agents) {
    const bool is_gpu = FieldIn(of, head.PlaceOf(Column::kAgentType)) == "GPU";
    known_.emplace(number, is_gpu ? next : kAbsent32);
    if (!is_gpu) continue;
    const auto whole = [&](Column column) { return WholeIn(FieldIn(of, head.PlaceOf(column))); };
    AddAgent({.device = next++,
              .name = FieldIn(of, head.PlaceOf(Column::kProduct)),
              .arch = FieldIn(of, head.PlaceOf(Column::kName)),
              .compute_units = whole(Column::kComputeUnits),
              .clock_mhz = whole(Column::kClock)},
             builder);
  }
}

int32_t Gpus::DeviceOf(std::string_view agent) {
  constexpr int64_t kLargestNumber = 64;  // above it stands an id of the driver
  const bool is_gpu = agent.starts_with("GPU ");
  const size_t digits = agent.find_last_not_of("0123456789") + 1;
  const int64_t number = digits < agent.size() ? WholeIn(agent.substr(digits)) : kAbsent;
  if (number == kAbsent || agent.starts_with("CPU")) return kAbsent32;
  if (const auto known = known_.find(number); known != known_.end() && !is_gpu) return known->second;
  if (number < kLargestNumber) return static_cast<int32_t>(number);
  return numbers_.try_emplace(number, static_cast<int32_t>(numbers_.size())).first->second;
}

Form FormOf(std::string_view text) {
  Fields fields;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvReader csv(text.substr(0, text.find('\n')));
  return csv.Next(fields) ? HeadOf(fields).form : Form::kNone;
}

int64_t ReadTable(std::string_view text, Gpus& gpus, const ReadContext& context, TraceBuilder& builder,
                  Meaning& meaning) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvReader csv(text);
  Fields fields;
  if (!csv.Next(fields)) return -1;
  const Head head = HeadOf(fields);
  if (head.form == Form::kNone) return -1;
  int64_t count = 0, short_rows = 0;
  if (head.form == Form::kAgents) gpus.Learn(text, builder);
  Rows rows(head, gpus, builder, meaning);
  while (csv.Next(fields) && !context.cancelled()) {
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (context.progress && count % 65'536 == 0) context.progress();
    ++count;
    if (fields.size() < head.columns && head.counters.empty())
      ++short_rows;
    else
      rows.Add(fields);
  }
  builder.Count("short_rows", Severity::kLoss, short_rows, kAbsent,
                "rows with fewer fields than the head were left out");
  if (csv.cut() || (!text.empty() && text.back() != '\n' && short_rows > 0))
    builder.Count("truncated_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  "a table ends in the middle; the rows before are all there");
  return count;
}

}  // namespace gapless::internal::rocm
