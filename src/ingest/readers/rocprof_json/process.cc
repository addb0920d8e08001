// SPDX-License-Identifier: Apache-2.0
// Records name kinds and operations by number, agents by handle, kernels by the number of their symbol; what the
// numbers mean stands before the records: "strings", "agents", "kernel_symbols", "counters".
#include "ingest/readers/rocprof_json/process.h"

#include <unordered_map>
#include <vector>

#include "base/strings.h"

namespace gapless::internal::rocm {
namespace {

namespace dom = simdjson::dom;
using Element = simdjson::simdjson_result<dom::element>;

int64_t Int(const Element& element) {
  int64_t value = kAbsent;
  if (element.get(value) == simdjson::SUCCESS) return value;
  uint64_t large = 0;
  return element.get(large) == simdjson::SUCCESS ? static_cast<int64_t>(large) : kAbsent;
}

double Real(const Element& element) {
  double value = kNan;
  if (element.get(value) == simdjson::SUCCESS) return value;
  return kNan;
}

std::string_view Text(const Element& element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::string_view TextIn(const dom::element& element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// The members of a list; none of anything else. An array of simdjson that is no list must not be walked over.
std::vector<dom::element> List(const Element& element) {
  dom::array list;
  std::vector<dom::element> members;
  if (element.get(list) != simdjson::SUCCESS) return members;
  for (const dom::element member : list) members.push_back(member);
  return members;
}

// "0x00007ffb26354000" or a number.
int64_t Address(const Element& element) {
  const std::string_view text = Text(element);
  if (!text.starts_with("0x")) return Int(element);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return error == std::errc() ? static_cast<int64_t>(value) : kAbsent;
}

// A JsonProcess reads the records of one process.
class JsonProcess {
 public:
  JsonProcess(const dom::element& process, const ReadContext& context, TraceBuilder& builder, Meaning& meaning)
      : process_(process), context_(context), builder_(builder), meaning_(meaning) {}

  void Read() {
    Describe();
    ReadAgents();
    ReadNames();
    constexpr std::string_view kCalls[] = {"hip_api",       "hsa_api",     "marker_api", "rccl_api",
                                           "rocdecode_api", "rocjpeg_api", "ompt"};
    for (const std::string_view calls : kCalls) ForEach(calls, [&](const dom::element& row) { AddCall(row); });
    ForEach("kernel_dispatch", [&](const dom::element& row) { AddDispatch(row); });
    ForEach("memory_copy", [&](const dom::element& row) { AddCopy(row); });
    ForEach("memory_allocation", [&](const dom::element& row) { AddAllocation(row); });
    ReadCounters();
    for (const std::string_view other : {"scratch_memory", "pc_sample_host_trap", "pc_sample_stochastic"})
      meaning_.LeaveOut(other, static_cast<int64_t>(Records(other).size()));
  }

 private:
  struct Kind {
    std::string_view name{};
    std::vector<std::string_view> operations{};
  };

  void Describe() {
    const auto metadata = process_["metadata"];
    pid_ = Int(metadata["pid"]);
    if (pid_ == kAbsent) pid_ = 0;
    if (builder_.info().host.empty()) builder_.info().host = Text(metadata["node"]["hostname"]);
    std::string command;
    for (const dom::element& word : List(metadata["command"]))
      command += StrCat(command.empty() ? "" : " ", TextIn(word));
    if (!command.empty()) builder_.NameProcess(pid_, command);
  }

  void ReadAgents() {
    constexpr int64_t kGpu = 2;
    int32_t next = 0;
    for (const dom::element& agent : List(process_["agents"])) {
      if (Int(agent["type"]) != kGpu) continue;
      const int64_t index = Int(agent["logical_node_type_id"]);
      const int32_t device = index >= 0 && index < 1 << 16 ? static_cast<int32_t>(index) : next;
      next = std::max(next, device) + 1;
      devices_.insert_or_assign(Int(agent["id"]["handle"]), device);
      Agent about{.device = device, .name = Text(agent["product_name"]), .arch = Text(agent["name"])};
      about.compute_units = Int(agent["cu_count"]);
      about.clock_mhz = Int(agent["max_engine_clk_fcompute"]);
      for (const dom::element& bank : List(agent["mem_banks"]))
        about.memory_bytes = std::max(about.memory_bytes, Int(bank["size_in_bytes"]));
      agents_.push_back(about);
    }
  }

  void ReadNames() {
    for (const dom::element& kind : List(process_["strings"]["buffer_records"])) {
      kinds_.push_back({.name = Text(kind["kind"])});
      for (const dom::element& operation : List(kind["operations"]))
        kinds_.back().operations.push_back(TextIn(operation));
    }
    for (const dom::element& mark : List(process_["strings"]["marker_api"]))
      marks_.insert_or_assign(Int(mark["key"]), Text(mark["value"]));
    for (const dom::element& symbol : List(process_["kernel_symbols"])) {
      std::string_view name = Text(symbol["formatted_kernel_name"]);
      if (name.empty()) name = Text(symbol["kernel_name"]);
      symbols_.insert_or_assign(Int(symbol["kernel_id"]), std::pair(name, Int(symbol["arch_vgpr_count"])));
    }
    for (const dom::element& counter : List(process_["counters"]))
      counters_.insert_or_assign(Int(counter["id"]["handle"]), Text(counter["name"]));
  }

  std::vector<dom::element> Records(std::string_view name) const { return List(process_["buffer_records"][name]); }

  template <class F>
  void ForEach(std::string_view name, F f) {
    int64_t rows = 0;
    for (const dom::element& row : Records(name)) {
      if (context_.cancelled()) return;
      if (context_.progress && ++rows % 65'536 == 0) context_.progress();
      f(row);
    }
  }

  // The GPU of a handle; absent for a processor. GPUs that do no work are not described.
  int32_t DeviceOf(const Element& agent) {
    const auto at = devices_.find(Int(agent["handle"]));
    if (at == devices_.end()) return kAbsent32;
    for (Agent& about : agents_)
      if (about.device == at->second) AddAgent(about, builder_), about.device = kAbsent32;
    return at->second;
  }

  Work WorkOf(const dom::element& row, const Element& of, int32_t device) {
    return {.start = Int(row["start_timestamp"]),
            .end = Int(row["end_timestamp"]),
            .correlation = Int(row["correlation_id"]["internal"]),
            .stream = Int(row["stream_id"]["handle"]),
            .queue = Int(of["queue_id"]["handle"]),
            .device = device};
  }

  void AddCall(const dom::element& row) {
    const int64_t kind = Int(row["kind"]), operation = Int(row["operation"]);
    const int64_t correlation = Int(row["correlation_id"]["internal"]);
    Call call{.pid = pid_, .tid = Int(row["thread_id"]), .correlation = correlation};
    call.start = Int(row["start_timestamp"]), call.end = Int(row["end_timestamp"]);
    if (kind >= 0 && kind < static_cast<int64_t>(kinds_.size())) {
      const Kind& of = kinds_[static_cast<size_t>(kind)];
      call.domain = of.name;
      if (operation >= 0 && operation < static_cast<int64_t>(of.operations.size()))
        call.name = of.operations[static_cast<size_t>(operation)];
    }
    if (call.domain.starts_with("MARKER"))
      if (const auto mark = marks_.find(correlation); mark != marks_.end()) call.name = mark->second;
    meaning_.Add(call);
  }

  Dispatch DispatchOf(const dom::element& row) {
    const auto info = row["dispatch_info"];
    Dispatch dispatch{.work = WorkOf(row, info, DeviceOf(info["agent_id"]))};
    constexpr std::string_view kSides[] = {"x", "y", "z"};
    for (size_t i = 0; i < 3; ++i) {
      dispatch.grid[i] = Int(info["grid_size"][kSides[i]]);
      dispatch.workgroup[i] = Int(info["workgroup_size"][kSides[i]]);
    }
    dispatch.shared_bytes = Int(info["group_segment_size"]);
    const int64_t kernel = Int(info["kernel_id"]);
    const auto symbol = symbols_.find(kernel);
    if (symbol != symbols_.end()) dispatch.name = symbol->second.first, dispatch.registers = symbol->second.second;
    if (!dispatch.name.empty()) return dispatch;
    unnamed_ = StrCat("kernel ", kernel);
    dispatch.name = unnamed_;
    return dispatch;
  }

  void AddDispatch(const dom::element& row) { meaning_.Add(DispatchOf(row)); }

  void AddCopy(const dom::element& row) {
    const int64_t kind = Int(row["kind"]), operation = Int(row["operation"]);
    const int32_t to = DeviceOf(row["dst_agent_id"]), from = DeviceOf(row["src_agent_id"]);
    Copy copy{.work = WorkOf(row, row["kind"], to != kAbsent32 ? to : from), .bytes = Int(row["bytes"])};
    if (kind >= 0 && kind < static_cast<int64_t>(kinds_.size()) && operation >= 0 &&
        operation < static_cast<int64_t>(kinds_[static_cast<size_t>(kind)].operations.size()))
      copy.direction = kinds_[static_cast<size_t>(kind)].operations[static_cast<size_t>(operation)];
    copy.between_devices = to != kAbsent32 && from != kAbsent32 && to != from;
    meaning_.Add(copy);
  }

  void AddAllocation(const dom::element& row) {
    const int64_t bytes = Int(row["allocation_size"]);
    meaning_.Add(Allocation{.device = DeviceOf(row["agent_id"]),
                            .is_free = bytes <= 0,
                            .time = Int(row["start_timestamp"]),
                            .address = Address(row["address"]),
                            .bytes = bytes});
  }

  // Counters come with a description of the dispatch, which is a kernel of its own where no kernels were traced.
  void ReadCounters() {
    const bool traced = !Records("kernel_dispatch").empty();
    for (const dom::element& row : List(process_["callback_records"]["counter_collection"])) {
      if (context_.cancelled()) return;
      dom::element data;
      if (row["dispatch_data"].get(data) != simdjson::SUCCESS) continue;
      Dispatch dispatch = DispatchOf(data);
      dispatch.work.stream = Int(row["stream_id"]["handle"]);
      const int64_t number = Int(data["dispatch_info"]["dispatch_id"]);
      if (!traced) meaning_.Add(dispatch);
      meaning_.DescribeMeasured(dispatch, number);
      for (const dom::element& record : List(row["records"])) {
        const auto counter = counters_.find(Int(record["counter_id"]["handle"]));
        if (counter != counters_.end())
          meaning_.AddCounter(dispatch.name, number, counter->second, Real(record["value"]));
      }
    }
  }

  const dom::element& process_;
  const ReadContext& context_;
  TraceBuilder& builder_;
  Meaning& meaning_;
  int64_t pid_ = 0;
  std::string unnamed_{};
  std::vector<Agent> agents_{};
  std::vector<Kind> kinds_{};
  std::unordered_map<int64_t, int32_t> devices_{};  // devices by handle
  std::unordered_map<int64_t, std::string_view> marks_{}, counters_{};
  std::unordered_map<int64_t, std::pair<std::string_view, int64_t>> symbols_{};
};

}  // namespace

void ReadJsonProcess(const dom::element& process, const ReadContext& context, TraceBuilder& builder, Meaning& meaning) {
  meaning.BeginProcess();
  JsonProcess(process, context, builder, meaning).Read();
}

}  // namespace gapless::internal::rocm
