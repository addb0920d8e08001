// SPDX-License-Identifier: Apache-2.0
// Nsight Systems, exported as lines of JSON: nsys export --type jsonlines, and --type json of older versions.
// docs/formats/nsys_json.md describes what is read.
//
// A line is an object. Versions from 2020 write {"data": [texts …]} first and then events by kind ({"Type": 79,
// "CudaEvent": {…}}), numbers as texts among them; newer ones write rows of the tables that the SQLite export has
// ({"table": "StringIds", …}). Texts may stand anywhere, so they are gathered before the events are read.
#include <charconv>
#include <cmath>

#include "base/json_value.h"
#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys/meaning.h"

namespace gapless::internal::nsys_json_reader {
namespace {

constexpr std::string_view kExtensions[] = {".nsys.jsonl", ".jsonlines"};  // many programs log to .jsonl
constexpr std::string_view kNone = "";
constexpr std::string_view kHint =
    "export it again: nsys export --type sqlite REPORT.nsys-rep, or give the report itself";

Sniff SniffHead(std::string_view head) {
  if (!head.starts_with("{")) return Sniff::kNo;
  for (const std::string_view sign : {"\"CudaEvent\":", "\"TraceProcessEvent\":", "\"NvtxEvent\":",
                                      "\"table\":\"StringIds\"", "\"table\": \"StringIds\""})
    if (head.find(sign) != head.npos) return Sniff::kYes;
  return head.starts_with("{\"data\":[\"") && head.find("\"traceEvents\"") == head.npos ? Sniff::kYes : Sniff::kNo;
}

// A number, also one in a text.
int64_t WholeOf(const JsonValue& value) {
  if (const auto whole = value.Int()) return *whole;
  const std::string* text = value.Text();
  int64_t number = kAbsent;
  if (text == nullptr || text->empty()) return kAbsent;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? number : kAbsent;
}

int64_t Whole(const JsonValue& object, std::string_view key) { return WholeOf(object.Get(key)); }
int32_t Small(const JsonValue& object, std::string_view key) {
  const int64_t value = Whole(object, key);
  return value < INT32_MIN || value > INT32_MAX || value == kAbsent ? kAbsent32 : static_cast<int32_t>(value);
}
// The value under the first of two names that is there.
int64_t Either(const JsonValue& object, std::string_view key, std::string_view other) {
  const int64_t value = Whole(object, key);
  return value != kAbsent || other == kNone ? value : Whole(object, other);
}

class Events {
 public:
  explicit Events(TraceBuilder& builder) : meaning_(facts_, builder.NewShard()) {}

  // Takes the texts of a line, if it has some.
  void TakeTexts(const JsonValue& line) {
    if (const JsonValue& data = line.Get("data"); data.is_array()) {
      int64_t id = 0;
      for (const JsonValue& text : data.items()) AddText(id++, text);
    }
    if (line.Get("value").Text() == nullptr) return;
    if (line.TextOf("table") == "StringIds" || line.TextOf("type") == "String" ||
        line.Get("Type").kind() == JsonValue::Kind::kNull)
      AddText(Whole(line, "id"), line.Get("value"));
  }

  // Takes the event of a line. False: it is none that is read.
  bool Take(const JsonValue& line) {
    const std::string table = line.TextOf("table");
    if (!table.empty()) return TakeRow(table, line);
    if (const JsonValue* event = line.Find("CudaEvent")) return TakeWork(*event);
    if (const JsonValue* event = line.Find("TraceProcessEvent")) return TakeCall(*event, "startNs", "endNs", "name");
    if (const JsonValue* event = line.Find("NvtxEvent")) return TakeRange(*event);
    return false;
  }

  void Finish(TraceBuilder& builder) {
    nsys::Meaning::AddCalls({&meaning_});
    nsys::Meaning::AddRuns({&meaning_});
    nsys::Meaning::Finish({&meaning_}, builder);
  }
  nsys::Meaning& meaning() { return meaning_; }

 private:
  void AddText(int64_t id, const JsonValue& text) {
    if (text.Text() != nullptr && id != kAbsent) facts_.texts.Copy(id, *text.Text());
  }

  static nsys::Work WorkOf(const JsonValue& row) {
    return {.start = Either(row, "start", "startNs"),
            .end = Either(row, "end", "endNs"),
            .device = Small(row, "deviceId"),
            .context = Small(row, "contextId"),
            .stream = Whole(row, "streamId"),
            .global_pid = Whole(row, "globalPid"),
            .correlation = Whole(row, "correlationId")};
  }

  // `row` has the columns of a kernel; in older lines they stand in an object of their own.
  bool TakeKernel(const nsys::Work& work, const JsonValue& row) {
    nsys::Kernel kernel{.work = work, .name = Whole(row, "demangledName"), .short_name = Whole(row, "shortName")};
    kernel.registers = Small(row, "registersPerThread");
    constexpr std::string_view kGrid[] = {"gridX", "gridY", "gridZ"}, kBlock[] = {"blockX", "blockY", "blockZ"};
    for (int axis = 0; axis < 3; ++axis)
      kernel.grid[axis] = Small(row, kGrid[axis]), kernel.block[axis] = Small(row, kBlock[axis]);
    kernel.static_shared = Small(row, "staticSharedMemory"), kernel.dynamic_shared = Small(row, "dynamicSharedMemory");
    kernel.graph = Whole(row, "graphId");
    meaning_.Add(kernel);
    return true;
  }

  bool TakeCopy(const nsys::Work& work, const JsonValue& row) {
    meaning_.Add(nsys::Copy{.work = work,
                            .bytes = Either(row, "bytes", "sizebytes"),
                            .operation = Whole(row, "copyKind"),
                            .from = Whole(row, "srcKind"),
                            .to = Whole(row, "dstKind"),
                            .cause = Whole(row, "migrationCause")});
    return true;
  }

  bool TakeMemset(const nsys::Work& work, const JsonValue& row) {
    meaning_.Add(
        nsys::Memset{.work = work, .bytes = Either(row, "bytes", "sizebytes"), .memory = Whole(row, "memKind")});
    return true;
  }

  // Kinds of synchronisations are texts in older lines; what a wait is the call says, which has its own line.
  bool TakeWork(const JsonValue& event) {
    const nsys::Work work = WorkOf(event);
    if (const JsonValue* kernel = event.Find("kernel")) return TakeKernel(work, *kernel);
    if (const JsonValue* copy = event.Find("memcpy")) return TakeCopy(work, *copy);
    if (const JsonValue* memset = event.Find("memset")) return TakeMemset(work, *memset);
    return event.Find("sync") != nullptr;
  }

  bool TakeCall(const JsonValue& row, std::string_view start, std::string_view end, std::string_view name) {
    const std::string_view* text = facts_.texts.Find(Whole(row, name));
    // Calls of the system have lines of the same kind.
    const int64_t event_class = Whole(row, "eventClass");
    const bool of_cuda = text != nullptr && (text->starts_with("cu") || text->starts_with("hip"));
    if (!of_cuda && event_class != 0 && event_class != 1) return false;
    meaning_.Add(nsys::Call{.start = Whole(row, start),
                            .end = Whole(row, end),
                            .global_tid = Whole(row, "globalTid"),
                            .correlation = Whole(row, "correlationId"),
                            .name = Whole(row, name),
                            .event_class = event_class});
    return true;
  }

  bool TakeRange(const JsonValue& event) {
    const std::string text = event.TextOf("Text");
    meaning_.Add(nsys::Range{.start = Whole(event, "Timestamp"),
                             .end = Whole(event, "EndTimestamp"),
                             .global_tid = Whole(event, "GlobalTid"),
                             .type = Whole(event, "Type"),
                             .text = text,
                             .text_id = Whole(event, "TextId")});
    return true;
  }

  bool TakeOfSystem(std::string_view table, const JsonValue& row) {
    const int64_t start = Whole(row, "start"), thread = Whole(row, "globalTid"), process = Whole(row, "globalPid");
    if (table == "OSRT_API")
      meaning_.Add(
          nsys::OsCall{.start = start, .end = Whole(row, "end"), .global_tid = thread, .name = Whole(row, "nameId")});
    else if (table == "SCHED_EVENTS")
      meaning_.Add(nsys::Switch{
          .time = start, .global_tid = thread, .cpu = Small(row, "cpu"), .in = Whole(row, "isSchedIn") > 0});
    else if (table == "CUDA_UM_CPU_PAGE_FAULT_EVENTS")
      meaning_.Add(nsys::PageFault{.start = start, .global_pid = process, .function = Whole(row, "CpuInstruction")});
    else if (table == "CUDA_UM_GPU_PAGE_FAULT_EVENTS")
      meaning_.Add(nsys::PageFault{.start = start,
                                   .end = Whole(row, "end"),
                                   .global_pid = process,
                                   .device = Small(row, "deviceId"),
                                   .count = Whole(row, "numberOfPageFaults")});
    else
      return false;
    return true;
  }

  bool TakeRow(std::string_view table, const JsonValue& row) {
    const nsys::Work work = WorkOf(row);
    if (table == "CUPTI_ACTIVITY_KIND_KERNEL") return TakeKernel(work, row);
    if (table == "CUPTI_ACTIVITY_KIND_MEMCPY") return TakeCopy(work, row);
    if (table == "CUPTI_ACTIVITY_KIND_MEMSET") return TakeMemset(work, row);
    if (table == "CUPTI_ACTIVITY_KIND_RUNTIME") return TakeCall(row, "start", "end", "nameId");
    if (table == "StringIds") return true;
    if (table != "NVTX_EVENTS") return TakeOfSystem(table, row);
    const std::string text = row.TextOf("text");
    meaning_.Add(nsys::Range{.start = work.start,
                             .end = work.end,
                             .global_tid = Whole(row, "globalTid"),
                             .type = Whole(row, "eventType"),
                             .text = text,
                             .text_id = Whole(row, "textId")});
    return true;
  }

  nsys::Facts facts_{};
  nsys::Meaning meaning_;
};

// Calls `take` with each line that is an object; returns how many are none.
template <class Take>
int64_t EachLine(std::string_view text, const ReadContext& context, Take take) {
  int64_t bad = 0, number = 0;
  for (std::string_view rest = text; !rest.empty() && !context.cancelled();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (context.progress && ++number % 4096 == 0) context.progress();
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const auto value = JsonValue::Parse(line);
    if (value && value->is_object())
      take(*value);
    else
      ++bad;
  }
  return bad;
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  Events events(builder);
  EachLine(text, context, [&](const JsonValue& line) { events.TakeTexts(line); });
  int64_t read = 0, others = 0;
  const int64_t bad = EachLine(text, context, [&](const JsonValue& line) {
    const bool taken = events.Take(line);
    read += taken ? 1 : 0;
    others += !taken && !line.Get("data").is_array() ? 1 : 0;
  });
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  if (read == 0)
    return Fail(ErrorCode::kInput, "lines of Nsight Systems without a kernel, a copy, a call of CUDA or a range",
                source.path(), std::string(kHint));
  events.Finish(builder);
  builder.info().format = "nsys";  // the rows mean what those of a recording mean
  builder.Count("lines_left_out", Severity::kInfo, others, kAbsent,
                "lines are of kinds that are not read: texts, threads, samples, calls of the system");
  const bool cut = !text.empty() && text.back() != '\n' && bad > 0;
  builder.Count("bad_lines", Severity::kLoss, bad - (cut ? 1 : 0), kAbsent, "lines are no JSON and were left out");
  builder.Count("truncated_input", Severity::kError, cut ? 1 : 0, static_cast<int64_t>(text.size()),
                "the file ends in the middle of a line; the lines before are all there");
  return {};
}

}  // namespace

READER(nsys_json) = {.name = "nsys_json",
                     .help = "Nsight Systems, exported: nsys export --type jsonlines (or json)",
                     .extensions = kExtensions,
                     .sniff = SniffHead,
                     .read = Read,
                     .complete = nsys::CompleteTrace};

}  // namespace gapless::internal::nsys_json_reader
