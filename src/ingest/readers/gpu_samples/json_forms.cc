// SPDX-License-Identifier: Apache-2.0
#include "ingest/readers/gpu_samples/json_forms.h"

#include <charconv>
#include <cmath>

#include "base/json_value.h"
#include "base/strings.h"
#include "ingest/readers/gpu_samples/prometheus.h"

namespace gapless::internal::gpu_samples {
namespace {

// The text of a value, as a cell: "40 %" of {"value": 40, "unit": "%"}.
std::string CellOf(const JsonValue& value) {
  if (value.is_object()) {
    const JsonValue* number = value.Find("value");
    return number == nullptr || number->is_object() ? std::string()
                                                    : StrCat(CellOf(*number), " ", value.TextOf("unit"));
  }
  if (const std::string* text = value.Text()) return *text;
  const auto number = value.Number();
  return number && std::isfinite(*number) ? StrCat(*number) : std::string();
}

// Adds what an object about a GPU says, and the objects in it. Names are the last ones: {"usage":{"gfx_activity":…}}.
void AddObject(const JsonValue& object, int32_t device, int64_t ts_ns, SampleSink& sink, int depth) {
  for (size_t i = 0; i < object.keys().size(); ++i) {
    const JsonValue& value = object.items()[i];
    const std::string& name = object.keys()[i];
    const Column column = QueryColumn(name);
    const bool is_about = column.kind == Column::Kind::kDevice || column.kind == Column::Kind::kTimestamp;
    if (const std::string cell = CellOf(value); !cell.empty() && !is_about && column.device < 0) {
      if (column.kind == Column::Kind::kIgnored) {
        if (depth == 0) sink.CountUnread(name);
      } else {
        sink.AddCell(column, cell, device, ts_ns);
      }
    } else if (value.is_object() && depth < 4 && name != "process_list") {
      AddObject(value, device, ts_ns, sink, depth + 1);
    }
  }
}

std::optional<int64_t> TimeOfObject(const JsonValue& object, SampleSink& sink) {
  for (const std::string_view name : {"_timestamp", "timestamp", "query_time", "time"}) {
    const JsonValue* value = object.Find(name);
    if (value == nullptr || value->is_object()) continue;
    // Shortest text of a double: "1.7e+09" would not be read.
    const auto number = value->Number();
    const std::string text = number ? FormatNumber(*number, 6) : CellOf(*value);
    std::string plain;
    for (const char sign : text)
      if (sign != ',') plain += sign;
    if (const auto time = sink.TimeIn(plain)) return time;
  }
  return std::nullopt;
}

// {"card0": {…}, "card1": {…}, "system": {…}} of rocm-smi.
bool ReadCards(const JsonValue& document, SampleSink& sink) {
  bool found = false;
  for (size_t i = 0; i < document.keys().size(); ++i) {
    const std::string& key = document.keys()[i];
    int32_t number = -1;
    if (!key.starts_with("card") || !document.items()[i].is_object()) continue;
    const auto [end, error] = std::from_chars(key.data() + 4, key.data() + key.size(), number);
    if (error != std::errc() || end != key.data() + key.size() || number < 0 || number > 4096) continue;
    found = true;
    sink.SetVendor(Vendor::kAmd), sink.BeginRow();
    AddObject(document.items()[i], number, sink.NextMoment(number), sink, 0);
  }
  return found;
}

// A list of objects with a number of a GPU: of amd-smi and gpustat.
bool ReadGpuList(const JsonValue& list, std::optional<int64_t> time, SampleSink& sink) {
  bool found = false;
  for (const JsonValue& item : list.items()) {
    for (const std::string_view key : {"gpu", "index", "gpu_id"}) {
      const JsonValue* named = item.Find(key);
      const auto number = named == nullptr ? std::nullopt : named->NumberIn();
      if (!number || *number < 0 || *number > 4096) continue;
      const auto device = static_cast<int32_t>(*number);
      if (key == "gpu") sink.SetVendor(Vendor::kAmd);
      found = true, sink.BeginRow();
      const auto own = TimeOfObject(item, sink);
      AddObject(item, device, own ? *own : time ? *time : sink.NextMoment(device), sink, 1);
      break;
    }
  }
  return found;
}

// {"system.gpu.0.gpu": 95, "_timestamp": 1700000000, …} of W&B: a column a GPU and quantity.
bool ReadWide(const JsonValue& document, SampleSink& sink) {
  const auto time = TimeOfObject(document, sink);
  std::map<int32_t, int64_t> moments;
  for (size_t i = 0; i < document.keys().size(); ++i) {
    const Column column = QueryColumn(document.keys()[i]);
    if (column.device < 0) {
      if (document.keys()[i].starts_with("system")) sink.CountUnread(document.keys()[i]);
      continue;
    }
    if (moments.empty() || !moments.contains(column.device))
      moments[column.device] = time ? *time : sink.NextMoment(column.device);
    sink.BeginRow();
    sink.AddCell(column, CellOf(document.items()[i]), column.device, moments[column.device]);
  }
  return !moments.empty();
}

bool ReadDocument(const JsonValue& document, SampleSink& sink) {
  if (document.is_array()) {
    if (ReadGpuList(document, std::nullopt, sink)) return true;
    bool found = false;
    for (const JsonValue& item : document.items())
      if (item.is_object()) found = ReadDocument(item, sink) || found;
    return found;
  }
  if (document.Find("data") != nullptr && ReadPrometheusJson(document, sink)) return true;
  if (ReadCards(document, sink)) return true;
  for (const std::string_view key : {"gpu_data", "gpus"})
    if (document.Get(key).is_array()) return ReadGpuList(document.Get(key), TimeOfObject(document, sink), sink);
  return ReadWide(document, sink);
}

}  // namespace

bool HasJsonSamples(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || (head[first] != '{' && head[first] != '[')) return false;
  if (head.find("\"traceEvents\"") != head.npos) return false;
  const auto has = [&](std::string_view text) { return head.find(text) != head.npos; };
  if (has("\"resultType\"") && (has("\"DCGM_FI_") || has("\"nvidia_smi_"))) return true;
  if (has("\"card0\"") && (has("\"GPU use (%)\"") || has("Graphics Package Power (W)\"") || has("(Sensor ")))
    return true;
  if (has("\"gfx_activity\"") || (has("\"gpus\"") && has("\"utilization.gpu\""))) return true;
  return has("\"system.gpu.") || has("\"system/gpu.");
}

void ReadJsonSamples(std::string_view text, SampleSink& sink) {
  if (const auto document = JsonValue::Parse(text)) {
    if (!ReadDocument(*document, sink)) sink.CountContradiction();
    return;
  }
  for (const std::string_view line : Split(text, '\n')) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const auto document = JsonValue::Parse(line);
    if (!document || !ReadDocument(*document, sink)) sink.CountContradiction();
  }
}

}  // namespace gapless::internal::gpu_samples
