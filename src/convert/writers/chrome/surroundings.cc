// SPDX-License-Identifier: Apache-2.0
// Writes the head of the document, with devices, distributed information and origin, and the names and order of
// processes and threads.
//
// The recorder's facts keep their keys; the keys that describe the file itself are written anew. Values are texts in
// our tables; those that are JSON numbers, lists or objects are written as such again.
#include "convert/writers/chrome/surroundings.h"

#include <algorithm>
#include <set>

#include "base/json_writer.h"
#include "base/strings.h"
#include "base/version.h"
#include "convert/json_check.h"

namespace gapless::internal::chrome {
namespace {

constexpr std::string_view kDistributed = "distributed.";
// Keys of the recorder that are written anew, and those of an earlier conversion.
constexpr std::string_view kOwnKeys[] = {
    "baseTimeNanoseconds", "displayTimeUnit", "traceEvents",      "gapless",
    "gaplessRanks",        "gaplessCutOff",   "deviceProperties", "distributedInfo"};

// "key": value, with the comma before it.
class Members {
 public:
  explicit Members(Events& out) : out_(out) {}
  void Raw(std::string_view key, std::string_view json) {
    std::string text = first_ ? "\n" : ",\n";
    first_ = false;
    AppendJsonString(text, key);
    text += ": ";
    text += json;
    out_.Raw(text);
  }
  void Number(std::string_view key, int64_t value) {
    if (value != kAbsent && value != kAbsent32) Raw(key, StrCat(value));
  }
  void Text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    std::string json;
    AppendJsonString(json, value);
    Raw(key, json);
  }
  // As the recorder wrote it: a number, list or object as such, anything else as a text.
  void AsRecorded(std::string_view key, std::string_view value) {
    const bool may_be_json = !value.empty() && (value[0] == '{' || value[0] == '[' || value[0] == '-' ||
                                                (value[0] >= '0' && value[0] <= '9'));
    if (may_be_json && check_.IsValue(value)) return Raw(key, value);
    Text(key, value);
  }
  // Opens a list or an object; the next member in it has no comma before it.
  void Begin(std::string_view key, char bracket) {
    Raw(key, std::string_view(&bracket, 1));
    first_ = true;
  }
  void End(char bracket) {
    out_.Raw(std::string_view(&bracket, 1));
    first_ = false;
  }
  void Item(char bracket) {  // an object in a list
    out_.Raw(first_ ? "" : ",");
    out_.Raw(std::string_view(&bracket, 1));
    first_ = true;
  }

 private:
  Events& out_;
  JsonCheck check_;
  bool first_ = true;
};

void WriteDevices(const Trace& trace, Members& members) {
  const DeviceTable& devices = trace.devices;
  members.Begin("deviceProperties", '[');
  for (size_t row = 0; row < devices.size(); ++row) {
    const bool described = devices.name[row] != StringId::kNone || devices.memory_bytes[row] != kAbsent ||
                           devices.compute_major[row] != kAbsent32 || devices.sm_count[row] != kAbsent32;
    if (!described) continue;
    members.Item('{');
    members.Number("id", devices.device[row]);
    members.Text("name", trace.Text(devices.name[row]));
    members.Number("totalGlobalMem", devices.memory_bytes[row]);
    members.Number("computeMajor", devices.compute_major[row]);
    members.Number("computeMinor", devices.compute_minor[row]);
    members.Number("maxThreadsPerMultiprocessor", devices.max_threads_per_sm[row]);
    members.Number("numSms", devices.sm_count[row]);
    members.End('}');
  }
  members.End(']');
}

// Writes rank and size, and what else the recorder said about them. The rank is left out of a file of several
// ranks.
void WriteDistributed(const Trace& trace, bool with_rank, Members& members) {
  members.Begin("distributedInfo", '{');
  if (with_rank) members.Number("rank", trace.info.rank);
  members.Number("world_size", trace.info.world_size);
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    std::string_view key = trace.Text(trace.environment.key[row]);
    if (!key.starts_with(kDistributed)) continue;
    key.remove_prefix(kDistributed.size());
    const bool ours = key == "rank" || (key == "world_size" && trace.info.world_size != kAbsent);
    if (!ours) members.AsRecorded(key, trace.Text(trace.environment.value[row]));
  }
  members.End('}');
}

void WriteEnvironment(const Trace& trace, Members& members) {
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    const std::string_view key = trace.Text(trace.environment.key[row]);
    if (key.starts_with(kDistributed) || std::ranges::find(kOwnKeys, key) != std::end(kOwnKeys)) continue;
    members.AsRecorded(key, trace.Text(trace.environment.value[row]));
  }
}

bool HasKey(const Trace& trace, std::string_view key) {
  return std::ranges::any_of(trace.environment.key, [&](StringId id) { return trace.Text(id) == key; });
}

std::string_view FileName(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// Writes where the file comes from, and what reading that lost: a file that was cut off must not look whole.
void WriteOrigin(std::span<const RunTrace* const> traces, bool has_all_steps, Members& members) {
  members.Begin("gapless", '{');
  members.Text("version", kVersion);
  members.Text("content", has_all_steps ? "all" : "some steps");
  members.Begin("inputs", '[');
  for (const RunTrace* run_trace : traces) {
    const Trace& trace = *run_trace->trace;
    members.Item('{');
    members.Text("file", FileName(trace.info.path));
    members.Text("format", trace.info.format);
    members.Number("rank", trace.info.rank);
    members.Number("events", trace.info.event_count);
    for (size_t row = 0; row < trace.read_stats.size(); ++row)
      if (trace.read_stats.severity[row] != Severity::kInfo)
        members.Number(trace.Text(trace.read_stats.kind[row]), trace.read_stats.count[row]);
    members.End('}');
  }
  members.End(']');
  members.End('}');
}

// Returns the rank as a suffix of a name; "" without a rank.
std::string OfRank(const RunTrace& of) { return of.rank() == kAbsent ? "" : StrCat(" (rank ", of.rank(), ")"); }

void NameProcesses(const RunTrace& of, const Places& places, bool of_several, Events& out) {
  const ThreadTable& threads = of.trace->threads;
  std::set<int64_t> named;
  for (size_t row = 0; row < threads.size(); ++row) {
    const Place place{places.threads[row].pid, 0};
    if (!named.insert(place.pid).second) continue;
    const std::string_view recorded = of.trace->Text(threads.process_name[row]);
    if (of_several)
      WriteName(out, "process_name", place, StrCat(recorded.empty() ? "host" : recorded, OfRank(of)));
    else if (!recorded.empty())
      WriteName(out, "process_name", place, recorded);
    out.Begin(Kind::kMetadata, 'M', "").Name("process_labels").Of(place);
    out.Arg("labels", of.rank() == kAbsent ? "host" : StrCat("host, rank ", of.rank())).End();
    WriteOrder(out, "process_sort_index", place, int64_t{of.index} * 1000 + 1);
  }
}

// Names a device's process and the threads that have rows. Threads are ordered stream by stream: annotations,
// work, waits.
void NameDevice(const RunTrace& of, int32_t device, const DevicePlaces& its, Events& out) {
  const std::string name = device == kAbsent32 || device < 0 ? "GPU" : StrCat("GPU ", device);
  WriteName(out, "process_name", {its.pid, 0}, name + OfRank(of));
  WriteOrder(out, "process_sort_index", {its.pid, 0}, int64_t{of.index} * 1000 + 2);
  int64_t order = 0;
  for (const auto& [stream, tids] : its.streams) {
    const std::string stream_name = stream == kAbsent ? "all streams" : StrCat("stream ", stream);
    const auto name_thread = [&, pid = its.pid](bool has, int64_t tid, std::string_view what) {
      if (!has) return;
      WriteName(out, "thread_name", {pid, tid}, StrCat(stream_name, what));
      WriteOrder(out, "thread_sort_index", {pid, tid}, order++);
    };
    name_thread(tids.has_annotations, tids.annotations, " annotations");
    name_thread(tids.has_work, tids.work, "");
    name_thread(tids.has_waits, tids.waits, " waits");
  }
}

}  // namespace

void WriteName(Events& out, std::string_view what, Place place, std::string_view name) {
  out.Begin(Kind::kMetadata, 'M', "").Name(what).Of(place).Arg("name", name).End();
}

void WriteOrder(Events& out, std::string_view what, Place place, int64_t order) {
  out.Begin(Kind::kMetadata, 'M', "").Name(what).Of(place).Arg("sort_index", order).End();
}

void WriteHead(std::span<const RunTrace* const> traces, const Layout& layout, bool has_all_steps, Events& out) {
  out.Raw("{");
  Members members(out);
  if (!traces.empty()) {
    const Trace& first = *traces[0]->trace;
    if (first.info.framework == "pytorch" && !HasKey(first, "schemaVersion")) members.Number("schemaVersion", 1);
    members.Text("displayTimeUnit", "ms");
    members.Number("baseTimeNanoseconds", layout.base_unix_ns);
    WriteDevices(first, members);
    WriteDistributed(first, traces.size() == 1, members);
    WriteEnvironment(first, members);
    if (traces.size() > 1) members.Number("gaplessRanks", static_cast<int64_t>(traces.size()));
    const bool cut = std::ranges::any_of(traces, [](const RunTrace* of) { return EndsInTheMiddle(*of->trace); });
    if (cut) members.Number("gaplessCutOff", 1);
    WriteOrigin(traces, has_all_steps, members);
  }
  members.Begin("traceEvents", '[');
}

void WriteTail(Events& out) { out.Raw("\n]}\n"); }

void WriteNames(const RunTrace& of, const Places& places, bool of_several, Events& out) {
  NameProcesses(of, places, of_several, out);
  const ThreadTable& threads = of.trace->threads;
  for (size_t row = 0; row < threads.size(); ++row)
    if (const std::string_view name = of.trace->Text(threads.name[row]); !name.empty())
      WriteName(out, "thread_name", places.threads[row], name);
  for (const auto& [device, its] : places.devices) NameDevice(of, device, its, out);
}

}  // namespace gapless::internal::chrome
