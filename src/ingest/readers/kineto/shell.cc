// SPDX-License-Identifier: Apache-2.0
// Reads the metadata around traceEvents: devices, distributed information and origin. Invalid UTF-8 is replaced
// before the text is parsed again.
//
// Every member becomes a row of the environment, cut at 4096 bytes, so that later versions' facts are not lost;
// some also fill columns. The members "gapless…" are our own writer's, and are reported as notes.
#include <simdjson.h>

#include <algorithm>

#include "base/strings.h"
#include "ingest/readers/kineto/frames.h"
#include "ingest/readers/kineto/parse.h"
#include "trace/process_groups.h"

namespace gapless::internal::kineto {
namespace {

namespace od = simdjson::ondemand;
constexpr size_t kMaxEnvironmentText = 4096;

std::string_view TrimEnd(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

// A scalar's token, or the text of an array or object.
std::string_view TextOf(od::value value) {
  std::string_view text;
  od::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return {};
  if (type == od::json_type::array) {
    od::array array;
    if (value.get_array().get(array) == simdjson::SUCCESS && array.raw_json().get(text) != simdjson::SUCCESS) text = {};
  } else if (type == od::json_type::object) {
    od::object object;
    if (value.get_object().get(object) == simdjson::SUCCESS && object.raw_json().get(text) != simdjson::SUCCESS)
      text = {};
  } else {
    text = value.raw_json_token();
  }
  return TrimEnd(text);
}

// Calls f(key, value) for each member; false when the object is broken.
template <class F>
bool ForEachMember(od::object object, F f) {
  for (auto field : object) {
    std::string_view key;
    od::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS)
      return false;
    f(key, value);
  }
  return true;
}

int32_t Int32(std::string_view token) {
  const int64_t value = TokenInt(token);
  return value < INT32_MIN + 1 || value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value);
}

void SetDeviceField(DeviceRow& row, std::string_view key, std::string_view token) {
  if (key == "id")
    row.device = Int32(token);
  else if (key == "name")
    row.name = Unescape(TokenText(token));
  else if (key == "totalGlobalMem")
    row.memory_bytes = TokenInt(token);
  else if (key == "computeMajor")
    row.compute_major = Int32(token);
  else if (key == "computeMinor")
    row.compute_minor = Int32(token);
  else if (key == "numSms")
    row.sm_count = Int32(token);
  else if (key == "maxThreadsPerMultiprocessor")
    row.max_threads_per_sm = Int32(token);
}

// Guesses the vendor from the device's name; recorders do not write it.
Vendor VendorOf(std::string_view name) {
  for (const std::string_view part : {"AMD", "Radeon", "Instinct", "gfx"})
    if (name.find(part) != std::string_view::npos) return Vendor::kAmd;
  for (const std::string_view part :
       {"NVIDIA", "Tesla", "Quadro", "GeForce", "TITAN", "RTX", "A100", "H100", "H200", "B200", "V100"})
    if (name.find(part) != std::string_view::npos) return Vendor::kNvidia;
  return Vendor::kOther;
}

// Adds the devices of the list up to the first that is broken. On ROCm, a name that shows no vendor is AMD's.
void AddDevices(od::value value, TraceBuilder& builder, bool rocm) {
  od::array devices;
  if (value.get_array().get(devices) != simdjson::SUCCESS) return;
  for (auto item : devices) {
    od::object object;
    if (item.get_object().get(object) != simdjson::SUCCESS) return;
    DeviceRow row;
    if (!ForEachMember(object, [&](std::string_view key, od::value field) { SetDeviceField(row, key, TextOf(field)); }))
      return;
    row.vendor = VendorOf(row.name);
    if (rocm && row.vendor == Vendor::kOther) row.vendor = Vendor::kAmd;
    builder.AddDevice(row);
  }
}

std::vector<int64_t> RanksOf(od::value value) {
  std::vector<int64_t> ranks;
  od::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return ranks;
  for (auto item : array) {
    int64_t rank = 0;
    if (item.get_int64().get(rank) != simdjson::SUCCESS) return {};
    ranks.push_back(rank);
  }
  return ranks;
}

// Adds the process groups up to the first that is broken, each as a row of its own: the list of a large job is too long
// for one.
void AddProcessGroups(std::string_view json, TraceBuilder& builder) {
  const simdjson::padded_string padded(json);
  od::parser parser;
  od::document document;
  od::array groups;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_array().get(groups) != simdjson::SUCCESS)
    return;
  for (auto item : groups) {
    od::object object;
    if (item.get_object().get(object) != simdjson::SUCCESS) return;
    std::string name, description;
    std::vector<int64_t> ranks;
    const bool whole = ForEachMember(object, [&](std::string_view key, od::value field) {
      if (key == "ranks") return void(ranks = RanksOf(field));
      if (key == "pg_name") name = Unescape(TokenText(TextOf(field)));
      if (key == "pg_desc") description = Unescape(TokenText(TextOf(field)));
    });
    if (!whole) return;
    if (!name.empty() && !ranks.empty())
      builder.AddEnvironment(StrCat(kProcessGroupKey, name), ProcessGroupText(description, ranks));
  }
}

void AddDistributed(od::value value, TraceBuilder& builder) {
  od::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return;
  ForEachMember(object, [&](std::string_view key, od::value field) {
    const std::string name(key);
    const std::string_view token = TextOf(field);
    if (name == "rank" && TokenInt(token) >= 0) builder.info().rank = TokenInt(token);
    if (name == "world_size" && TokenInt(token) > 0) builder.info().world_size = TokenInt(token);
    if (name == "pg_config") AddProcessGroups(token, builder);
    if (token.size() <= kMaxEnvironmentText) builder.AddEnvironment("distributed." + name, Unescape(TokenText(token)));
  });
}

// Returns false if the text is no valid JSON; what was read until then stays.
bool ParseStrictly(std::string_view json, TraceBuilder& builder, int64_t& base_time_ns) {
  simdjson::padded_string padded(json);
  od::parser parser;
  od::document document;
  od::object object;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS)
    return false;
  const bool rocm = json.find("\"hip_runtime_version\"") != std::string_view::npos ||
                    json.find("\"roctracer_version\"") != std::string_view::npos;
  return ForEachMember(object, [&](std::string_view key, od::value value) {
    if (key == "deviceProperties") return AddDevices(value, builder, rocm);
    if (key == "distributedInfo") return AddDistributed(value, builder);
    if (key == "traceEvents") return;
    const std::string name(key);
    const std::string_view token = TextOf(value);
    if (name == "baseTimeNanoseconds" && TokenInt(token) != kAbsent) base_time_ns = TokenInt(token);
    if (name == "host_name") builder.info().host = Unescape(TokenText(token));
    if (name == "gaplessRanks" && TokenInt(token) > 1)
      builder.Count(
          "several_ranks", Severity::kLoss, TokenInt(token), kAbsent,
          "ranks in one file for viewing cannot be distinguished: convert them to a folder to read them again");
    if (name == "gaplessCutOff")
      builder.Count("truncated_input", Severity::kError, 1, kAbsent,
                    "the recording that this was made from ends in the middle; the events before are all there");
    if (name == "schemaVersion") builder.info().framework = "pytorch";
    builder.AddEnvironment(name, Unescape(TokenText(token).substr(0, kMaxEnvironmentText)));
  });
}

}  // namespace

bool ParseShell(std::string_view json, TraceBuilder& builder, int64_t& base_time_ns) {
  if (ParseStrictly(json, builder, base_time_ns)) return true;
  const Cleaned cleaned = Clean(json);
  return (cleaned.had_control || cleaned.had_invalid_utf8) && ParseStrictly(cleaned.text, builder, base_time_ns);
}

namespace {

// Returns the length of the valid UTF-8 sequence at text[at], or 0.
size_t Utf8Length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const unsigned first = byte(0);
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool bad = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0);
    return follows(1) && follows(2) && !bad ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool bad = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90);
    return follows(1) && follows(2) && follows(3) && !bad ? 4 : 0;
  }
  return 0;
}

}  // namespace

Cleaned Clean(std::string_view json) {
  Cleaned cleaned;
  cleaned.text.reserve(json.size());
  bool in_string = false, escaped = false;
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (in_string && static_cast<unsigned char>(c) < 0x20) {
      cleaned.text += ' ';
      cleaned.had_control = true;
      ++at;
      continue;
    }
    if (escaped)
      escaped = false;
    else if (in_string && c == '\\')
      escaped = true;
    else if (c == '"')
      in_string = !in_string;
    const size_t length = Utf8Length(json, at);
    if (length == 0) cleaned.text += '?', cleaned.had_invalid_utf8 = true;
    cleaned.text.append(json, at, length);
    at += std::max<size_t>(length, 1);
  }
  return cleaned;
}

}  // namespace gapless::internal::kineto
