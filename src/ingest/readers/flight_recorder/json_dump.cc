// SPDX-License-Identifier: Apache-2.0
// The same from JSON: that of PyTorch (_dump_nccl_trace_json), and of scripts that write the pickle's content as JSON.
#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "ingest/json_objects.h"
#include "ingest/readers/flight_recorder/dump.h"

namespace gapless::internal::flight_recorder {
namespace {

namespace dom = simdjson::dom;

std::string TextOf(const simdjson::simdjson_result<dom::element>& value) {
  std::string_view text;
  int64_t number = 0;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  return value.get(number) == simdjson::SUCCESS ? StrCat(number) : std::string();
}

// A number, or a text that is one.
int64_t IntOf(const simdjson::simdjson_result<dom::element>& value) {
  int64_t number = kAbsent;
  if (value.get(number) == simdjson::SUCCESS) return number;
  const std::string text = TextOf(value);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? number : kAbsent;
}

int64_t TimeOf(const simdjson::simdjson_result<dom::element>& value) {
  const int64_t ns = IntOf(value);
  return ns > 0 ? ns : kAbsent;
}

bool TruthOf(const simdjson::simdjson_result<dom::element>& value) {
  bool truth = false;
  return value.get(truth) == simdjson::SUCCESS && truth;
}

Sizes SizesOf(const simdjson::simdjson_result<dom::element>& value) {
  Sizes sizes;
  dom::array tensors;
  if (value.get(tensors) != simdjson::SUCCESS) return sizes;
  for (const dom::element tensor : tensors) {
    dom::array dims;
    if (tensor.get(dims) != simdjson::SUCCESS) return {};
    std::string text;
    int64_t elements = 1;
    for (const dom::element dim : dims) {
      int64_t size = 0;
      if (dim.get(size) != simdjson::SUCCESS || size < 0) return {};
      text += StrCat(text.empty() ? "" : ", ", size);
      elements = size > 0 && elements > kMaxElements / size ? kMaxElements : elements * size;
    }
    sizes.text += StrCat(sizes.text.empty() ? "[" : ", ", "[", text, "]");
    sizes.elements = std::min(std::max<int64_t>(sizes.elements, 0) + elements, kMaxElements);
  }
  sizes.text += sizes.text.empty() ? "" : "]";
  return sizes;
}

std::vector<Frame> FramesOf(const simdjson::simdjson_result<dom::element>& value) {
  std::vector<Frame> frames;
  dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return frames;
  for (const dom::element frame : list)
    frames.push_back({TextOf(frame["name"]), TextOf(frame["filename"]), IntOf(frame["line"])});
  return frames;
}

Call CallOf(const dom::element& entry) {
  Call call;
  call.name = TextOf(entry["profiling_name"]), call.state = TextOf(entry["state"]);
  call.group_name = TextOf(entry["process_group"].at(0)), call.group_desc = TextOf(entry["process_group"].at(1));
  call.pg_id = IntOf(entry["pg_id"]), call.record = IntOf(entry["record_id"]);
  call.seq = IntOf(entry["collective_seq_id"]), call.p2p_seq = IntOf(entry["p2p_seq_id"]);
  if (call.seq == kAbsent) call.seq = IntOf(entry["seq_id"]);
  call.created_ns = TimeOf(entry["time_created_ns"]), call.started_ns = TimeOf(entry["time_discovered_started_ns"]);
  call.completed_ns = TimeOf(entry["time_discovered_completed_ns"]), call.timeout_ms = IntOf(entry["timeout_ms"]);
  if (entry["duration_ms"].get(call.duration_ms) != simdjson::SUCCESS) call.duration_ms = -1;
  call.is_p2p = TruthOf(entry["is_p2p"]), call.retired = TruthOf(entry["retired"]);
  Sizes in = SizesOf(entry["input_sizes"]), out = SizesOf(entry["output_sizes"]);
  call.in_shape = std::move(in.text), call.in_elements = in.elements;
  call.out_shape = std::move(out.text), call.out_elements = out.elements;
  call.in_dtype = TextOf(entry["input_dtypes"].at(0)), call.out_dtype = TextOf(entry["output_dtypes"].at(0));
  call.frames = FramesOf(entry["frames"]);
  return call;
}

std::string RanksOf(const simdjson::simdjson_result<dom::element>& value) {
  dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return TextOf(value);
  std::string text;
  for (dom::element rank : list)
    text += StrCat(text.empty() ? "[" : ", ", TextOf(simdjson::simdjson_result<dom::element>(std::move(rank))));
  return text.empty() ? text : text + "]";
}

void TakeRoot(const dom::element& root, Dump& dump) {
  dump.version = TextOf(root["version"]), dump.rank = IntOf(root["rank"]);
  for (const char* key : {"comm_lib_version", "nccl_version"})
    if (std::string text = TextOf(root[key]); !text.empty()) dump.library_version = std::move(text);
  dom::object groups, status;
  if (root["pg_config"].get(groups) == simdjson::SUCCESS)
    for (const auto& [key, group] : groups)
      dump.groups.insert_or_assign(std::string(key), Group{RanksOf(group["ranks"]), TextOf(group["desc"])});
  if (root["pg_status"].get(status) != simdjson::SUCCESS) return;
  for (const auto& [key, last] : status) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error == std::errc() && end == key.data() + key.size())
      dump.status[number] = {IntOf(last["last_enqueued_collective"]), IntOf(last["last_started_collective"]),
                             IntOf(last["last_completed_collective"])};
  }
}

void TakeEntry(const dom::element& entry, Dump& dump) {
  Call call = CallOf(entry);
  if (call.name.empty())
    ++dump.bad_calls;
  else
    dump.calls.push_back(std::move(call));
}

}  // namespace

Result<Dump> ReadJsonDump(std::string_view text, const std::string& path) {
  Dump dump;
  dom::parser parser;
  dom::element root;
  dom::array entries;
  if (parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS) {
    TakeRoot(root, dump);
    if (root["entries"].get(entries) == simdjson::SUCCESS)
      for (const dom::element entry : entries) TakeEntry(entry, dump);
    return dump;
  }
  // One that was cut off or damaged: its entries one by one.
  const size_t begin = text.find("\"entries\"");
  JsonObjects objects(begin == text.npos ? std::string_view() : text.substr(begin));
  for (std::string_view object = objects.Next(); !object.empty(); object = objects.Next())
    if (parser.parse(object.data(), object.size()).get(root) == simdjson::SUCCESS && root.is_object() &&
        !TextOf(root["profiling_name"]).empty())
      TakeEntry(root, dump);
  if (dump.calls.empty())
    return Fail(ErrorCode::kInput, "the dump is no valid JSON: it was cut off or damaged", path, "copy it again");
  dump.damage = "the dump is no valid JSON: it was cut off or damaged";
  return dump;
}

}  // namespace gapless::internal::flight_recorder
