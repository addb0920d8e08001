// SPDX-License-Identifier: Apache-2.0
// The tables of rocpd, version 3 of the schema, and what refers to what: rows name texts, threads, agents and kernels
// by the number of their row. The view `kernels` of the schema, for example, joins rocpd_kernel_dispatch,
// rocpd_info_agent, rocpd_event and rocpd_info_kernel_symbol; here views are never run. The number that joins a
// call with what it launched is `stack_id` of their events (`correlation_id` is one that the program may give).
#include "ingest/readers/rocpd/tables.h"

#include <optional>
#include <unordered_map>

#include "base/json_value.h"
#include "base/strings.h"

namespace gapless::internal::rocm {
namespace {

using nsys::Database;

struct Event {
  int64_t correlation = kAbsent, category = kAbsent;
  std::string message{};  // text of a mark
};
struct Symbol {
  std::string name{};
  int64_t registers = kAbsent, accumulators = kAbsent;
};
struct AgentPlace {
  bool is_gpu = false;
  int32_t device = kAbsent32;
};
struct Track {
  std::string name{};
  int32_t device = kAbsent32;
};

// A TablesOfProcess reads the tables of one process.
class TablesOfProcess {
 public:
  TablesOfProcess(Database& database, std::string ending, const ReadContext& context, TraceBuilder& builder,
                  Meaning& meaning)
      : database_(database), ending_(std::move(ending)), context_(context), builder_(builder), meaning_(meaning) {}

  void Read() {
    ReadTexts();
    ReadProcesses();
    ReadAgents();
    ReadSymbols();
    ReadEvents();
    ReadRegions();
    ReadDispatches();
    ReadCopies();
    ReadAllocations();
    ReadCounters();
    ReadSamples();
  }

 private:
  // The rows of a table; none when it is missing, lacks what is needed, or reading is to stop.
  std::optional<nsys::Rows> Rows(std::string_view table, const std::vector<std::string_view>& columns,
                                 size_t required) {
    if (context_.cancelled()) return std::nullopt;
    if (context_.progress) context_.progress();
    return database_.Select(StrCat(table, ending_), columns, required);
  }

  std::string_view TextOf(int64_t id) const {
    const auto at = texts_.find(id);
    return at == texts_.end() ? std::string_view() : std::string_view(at->second);
  }
  static int64_t In(const std::unordered_map<int64_t, int64_t>& map, int64_t id) {
    const auto at = map.find(id);
    return at == map.end() ? (id == kAbsent ? 0 : id) : at->second;
  }
  AgentPlace AgentOf(int64_t id) const {
    const auto at = agents_.find(id);
    return at == agents_.end() ? AgentPlace() : at->second;
  }

  void ReadTexts() {
    auto rows = Rows("rocpd_string", {"id", "string"}, 2);
    while (rows && rows->Next()) texts_.insert_or_assign(rows->Int(0), std::string(rows->Text(1)));
  }

  void ReadProcesses() {
    if (auto rows = Rows("rocpd_info_node", {"hostname"}, 1); rows && rows->Next())
      if (builder_.info().host.empty()) builder_.info().host = rows->Text(0);
    auto processes = Rows("rocpd_info_process", {"id", "pid", "command"}, 2);
    while (processes && processes->Next()) {
      if (processes->Int(1) == kAbsent) continue;
      pids_.insert_or_assign(processes->Int(0), processes->Int(1));
      if (!processes->Text(2).empty()) builder_.NameProcess(processes->Int(1), processes->Text(2));
    }
    auto threads = Rows("rocpd_info_thread", {"id", "pid", "tid", "name"}, 3);
    while (threads && threads->Next()) {
      if (threads->Int(2) == kAbsent) continue;
      tids_.insert_or_assign(threads->Int(0), threads->Int(2));
      if (!threads->Text(3).empty()) builder_.NameThread(In(pids_, threads->Int(1)), threads->Int(2), threads->Text(3));
    }
  }

  // A GPU is known by its number among the GPUs, as HIP counts them.
  void ReadAgents() {
    auto rows = Rows("rocpd_info_agent", {"id", "type", "type_index", "name", "product_name", "extdata"}, 2);
    int32_t next = 0;
    while (rows && rows->Next()) {
      AgentPlace place{.is_gpu = rows->Text(1) == "GPU"};
      if (place.is_gpu) {
        const int32_t index = rows->Int32(2);
        place.device = index >= 0 && index < 1 << 16 ? index : next;
        next = std::max(next, place.device) + 1;
        Agent agent{.device = place.device, .name = rows->Text(4), .arch = rows->Text(3)};
        if (const auto more = JsonValue::Parse(rows->Text(5))) {
          agent.compute_units = more->Get("cu_count").Int().value_or(0);
          agent.clock_mhz = more->Get("max_engine_clk_fcompute").Int().value_or(0);
        }
        AddAgent(agent, builder_);
      }
      agents_.insert_or_assign(rows->Int(0), place);
    }
  }

  void ReadSymbols() {
    auto rows = Rows("rocpd_info_kernel_symbol",
                     {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count"}, 1);
    while (rows && rows->Next()) {
      const std::string_view name = rows->Text(1).empty() ? rows->Text(2) : rows->Text(1);
      symbols_.insert_or_assign(rows->Int(0), Symbol{std::string(name), rows->Int(3), rows->Int(4)});
    }
  }

  void ReadEvents() {
    auto rows = Rows("rocpd_event", {"id", "stack_id", "category_id", "extdata"}, 1);
    while (rows && rows->Next()) {
      Event event{.correlation = rows->Int(1), .category = rows->Int(2)};
      if (rows->Text(3).find("\"message\"") != std::string_view::npos)
        if (const auto more = JsonValue::Parse(rows->Text(3))) event.message = more->TextOf("message");
      events_.insert_or_assign(rows->Int(0), std::move(event));
    }
  }

  const Event& EventOf(int64_t id) const {
    static const Event kNone;
    const auto at = events_.find(id);
    return at == events_.end() ? kNone : at->second;
  }

  void ReadRegions() {
    auto rows = Rows("rocpd_region", {"pid", "tid", "start", "end", "name_id", "event_id"}, 5);
    while (rows && rows->Next()) {
      const Event& event = EventOf(rows->Int(5));
      const std::string_view name = event.message.empty() ? TextOf(rows->Int(4)) : std::string_view(event.message);
      meaning_.Add(Call{.name = name,
                        .domain = TextOf(event.category),
                        .pid = In(pids_, rows->Int(0)),
                        .tid = In(tids_, rows->Int(1)),
                        .start = rows->Int(2),
                        .end = rows->Int(3),
                        .correlation = event.correlation});
    }
  }

  void ReadDispatches() {
    auto rows = Rows("rocpd_kernel_dispatch",
                     {"start", "end", "kernel_id", "agent_id", "queue_id", "stream_id", "event_id", "dispatch_id",
                      "workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y",
                      "grid_size_z", "group_segment_size"},
                     4);
    while (rows && rows->Next()) {
      const auto symbol = symbols_.find(rows->Int(2));
      const std::string unnamed = StrCat("kernel ", rows->Int(2));
      Dispatch row{.work = WorkOf(*rows), .name = unnamed};
      row.workgroup = {rows->Int(8), rows->Int(9), rows->Int(10)};
      row.grid = {rows->Int(11), rows->Int(12), rows->Int(13)};
      row.shared_bytes = rows->Int(14);
      if (symbol != symbols_.end()) {
        if (!symbol->second.name.empty()) row.name = symbol->second.name;
        row.registers = symbol->second.registers;
      }
      meaning_.Add(row);
      if (rows->Has(6)) measured_.insert_or_assign(rows->Int(6), std::pair(std::string(row.name), rows->Int(7)));
    }
  }

  // Start, end, …, agent, queue, stream and event stand in these columns of dispatches.
  Work WorkOf(const nsys::Rows& rows) const {
    return {.start = rows.Int(0),
            .end = rows.Int(1),
            .correlation = EventOf(rows.Int(6)).correlation,
            .stream = rows.Int(5),
            .queue = rows.Int(4),
            .device = AgentOf(rows.Int(3)).device};
  }

  void ReadCopies() {
    auto rows = Rows(
        "rocpd_memory_copy",
        {"start", "end", "name_id", "dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id", "event_id"}, 3);
    while (rows && rows->Next()) {
      const AgentPlace to = AgentOf(rows->Int(3)), from = AgentOf(rows->Int(4));
      meaning_.Add(Copy{.work = {.start = rows->Int(0),
                                 .end = rows->Int(1),
                                 .correlation = EventOf(rows->Int(8)).correlation,
                                 .stream = rows->Int(7),
                                 .queue = rows->Int(6),
                                 .device = to.is_gpu ? to.device : from.device},
                        .direction = TextOf(rows->Int(2)),
                        .bytes = rows->Int(5),
                        .between_devices = to.is_gpu && from.is_gpu && to.device != from.device});
    }
  }

  void ReadAllocations() {
    auto rows = Rows("rocpd_memory_allocate", {"start", "type", "agent_id", "address", "size", "level"}, 2);
    while (rows && rows->Next()) {
      const std::string_view type = rows->Text(1);
      if (rows->Text(5) == "SCRATCH" || (type != "ALLOC" && type != "FREE")) {
        meaning_.LeaveOut("scratch memory");
        continue;
      }
      meaning_.Add(Allocation{.device = AgentOf(rows->Int(2)).device,
                              .is_free = type == "FREE",
                              .time = rows->Int(0),
                              .address = rows->Int(3),
                              .bytes = rows->Int(4)});
    }
  }

  // Counters of dispatches, and values over time, which are those of events with a sample.
  void ReadCounters() {
    std::unordered_map<int64_t, Track> counters;
    auto about = Rows("rocpd_info_pmc", {"id", "name", "agent_id"}, 2);
    while (about && about->Next())
      counters.insert_or_assign(about->Int(0), Track{std::string(about->Text(1)), AgentOf(about->Int(2)).device});
    auto rows = Rows("rocpd_pmc_event", {"event_id", "pmc_id", "value"}, 3);
    while (rows && rows->Next()) {
      const auto counter = counters.find(rows->Int(1));
      const auto dispatch = measured_.find(rows->Int(0));
      if (counter == counters.end() || !rows->Has(2)) continue;
      if (dispatch != measured_.end())
        meaning_.AddCounter(dispatch->second.first, dispatch->second.second, counter->second.name, rows->Real(2));
      else
        sampled_.insert_or_assign(rows->Int(0), std::pair(counter->second, rows->Real(2)));
    }
  }

  void ReadSamples() {
    auto rows = Rows("rocpd_sample", {"timestamp", "event_id"}, 2);
    int64_t marks = 0;
    while (rows && rows->Next()) {
      const auto sampled = sampled_.find(rows->Int(1));
      if (sampled == sampled_.end())
        ++marks;
      else
        meaning_.AddSample(sampled->second.first.name, sampled->second.first.device, rows->Int(0),
                           sampled->second.second);
    }
    meaning_.LeaveOut("marks without a length", marks);
  }

  Database& database_;
  const std::string ending_;
  const ReadContext& context_;
  TraceBuilder& builder_;
  Meaning& meaning_;
  std::unordered_map<int64_t, std::string> texts_{};
  std::unordered_map<int64_t, int64_t> pids_{}, tids_{};
  std::unordered_map<int64_t, AgentPlace> agents_{};
  std::unordered_map<int64_t, Symbol> symbols_{};
  std::unordered_map<int64_t, Event> events_{};
  std::unordered_map<int64_t, std::pair<std::string, int64_t>> measured_{};  // name and number, by event
  std::unordered_map<int64_t, std::pair<Track, double>> sampled_{};          // by event
};

}  // namespace

std::vector<std::string> EndingsOf(const Database& database) {
  constexpr std::string_view kTable = "rocpd_string";
  std::vector<std::string> endings;
  for (const std::string& name : database.TablesLike("rocpd_string*")) endings.push_back(name.substr(kTable.size()));
  return endings;
}

void ReadProcess(Database& database, const std::string& ending, const ReadContext& context, TraceBuilder& builder,
                 Meaning& meaning) {
  meaning.BeginProcess();
  TablesOfProcess(database, ending, context, builder, meaning).Read();
}

}  // namespace gapless::internal::rocm
