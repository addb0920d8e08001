// SPDX-License-Identifier: Apache-2.0
// Takes the fields of one event from simdjson's view of it, with the arguments that become columns. Only parse.cc
// includes this header. The functions run once for each event or argument; they are static, so that the compiler
// inlines those that are called in one place.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "ingest/readers/kineto/fields.h"

namespace gapless::internal::kineto {

// An Arg is the way in which an argument is read.
enum class Arg : uint8_t { kInt, kReal, kToken, kTriple };

// An ArgTarget says where the argument of a key is stored.
struct ArgTarget {
  std::string_view key;
  Arg kind;
  int64_t EventFields::*integer = nullptr;
  double EventFields::*real = nullptr;
  std::string_view EventFields::*token = nullptr;
  std::array<int32_t, 3> EventFields::*triple = nullptr;
};
constexpr ArgTarget Int(std::string_view key, int64_t EventFields::*to) { return {key, Arg::kInt, to}; }
constexpr ArgTarget Real(std::string_view key, double EventFields::*to) { return {key, Arg::kReal, nullptr, to}; }
constexpr ArgTarget Token(std::string_view key, std::string_view EventFields::*to) {
  return {key, Arg::kToken, nullptr, nullptr, to};
}
constexpr ArgTarget Triple(std::string_view key, std::array<int32_t, 3> EventFields::*to) {
  return {key, Arg::kTriple, nullptr, nullptr, nullptr, to};
}

// Old recorders wrote some of the keys otherwise.
inline constexpr ArgTarget kArgTargets[] = {Int("External id", &EventFields::external_id),
                                            Int("external id", &EventFields::external_id),
                                            Int("correlation", &EventFields::correlation),
                                            Int("correlation_id", &EventFields::correlation),
                                            Int("step_num", &EventFields::step_number),
                                            Int("Sequence number", &EventFields::sequence),
                                            Int("Record function id", &EventFields::record_function),
                                            Int("device", &EventFields::device),
                                            Int("gpu-id", &EventFields::device),
                                            Int("dev-id", &EventFields::device),
                                            Int("Device Id", &EventFields::device),
                                            Int("stream", &EventFields::stream),
                                            Int("context", &EventFields::context),
                                            Int("bytes", &EventFields::bytes),
                                            Int("Bytes", &EventFields::bytes),
                                            Int("graph id", &EventFields::graph_id),
                                            Int("graph node id", &EventFields::graph_node_id),
                                            Int("channel", &EventFields::channel),
                                            Int("priority", &EventFields::priority),
                                            Int("Seq", &EventFields::seq),
                                            Int("BeginNs", &EventFields::begin_ns),
                                            Int("Src Rank", &EventFields::src_rank),
                                            Int("Dst Rank", &EventFields::dst_rank),
                                            Token("Process Group Ranks", &EventFields::group_ranks),
                                            Token("Task Type", &EventFields::task_type),
                                            Int("registers per thread", &EventFields::registers),
                                            Int("shared memory", &EventFields::shared_bytes),
                                            Int("Group size", &EventFields::group_size),
                                            Int("In msg nelems", &EventFields::in_elements),
                                            Int("Out msg nelems", &EventFields::out_elements),
                                            Int("wait_on_cuda_event_id", &EventFields::wait_on_event),
                                            Int("wait_on_stream", &EventFields::wait_on_stream),
                                            Int("wait_on_cuda_event_record_corr_id", &EventFields::wait_on_record),
                                            Int("Device Type", &EventFields::device_type),
                                            Int("Addr", &EventFields::address),
                                            Int("Total Allocated", &EventFields::total_allocated),
                                            Int("Total Reserved", &EventFields::total_reserved),
                                            Real("memory bandwidth (GB/s)", &EventFields::bandwidth_gbps),
                                            Real("blocks per SM", &EventFields::blocks_per_sm),
                                            Real("warps per SM", &EventFields::warps_per_sm),
                                            Real("est. achieved occupancy %", &EventFields::occupancy_pct),
                                            Token("Input Dims", &EventFields::input_dims),
                                            Token("Input dims", &EventFields::input_dims),
                                            Token("Input type", &EventFields::input_types),
                                            Token("Concrete Inputs", &EventFields::concrete_inputs),
                                            Token("Call stack", &EventFields::call_stack),
                                            Token("CallFrom", &EventFields::call_from),
                                            Token("source line", &EventFields::source_line),
                                            Token("name", &EventFields::args_name),
                                            Token("Collective name", &EventFields::collective),
                                            Token("dtype", &EventFields::dtype),
                                            Token("Process Group Name", &EventFields::group_name),
                                            Token("cuda_sync_kind", &EventFields::sync_kind),
                                            Token("Type", &EventFields::sync_kind),  // of Intel's recorder
                                            Triple("grid", &EventFields::grid),
                                            Triple("block", &EventFields::block)};

// An ArgIndex finds the target of a key by a small hash of its length and three of its characters. It is built at
// compile time; keys with the same hash take the next free slots.
class ArgIndex {
 public:
  constexpr ArgIndex() {
    for (size_t i = 0; i < std::size(kArgTargets); ++i) {
      size_t at = Hash(kArgTargets[i].key);
      while (slots_[at] != 0) at = (at + 1) % kSlots;
      slots_[at] = static_cast<uint8_t>(i + 1);
    }
  }
  const ArgTarget* Find(std::string_view key) const {
    if (key.empty()) return nullptr;
    for (size_t at = Hash(key); slots_[at] != 0; at = (at + 1) % kSlots)
      if (kArgTargets[slots_[at] - 1].key == key) return &kArgTargets[slots_[at] - 1];
    return nullptr;
  }

 private:
  static constexpr size_t kSlots = 256;
  static constexpr size_t Hash(std::string_view key) {
    const auto at = [key](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(key[i])); };
    return (key.size() * 31 + at(0) * 7 + at(key.size() / 2) * 3 + at(key.size() - 1)) % kSlots;
  }
  std::array<uint8_t, kSlots> slots_{};
};
inline constexpr ArgIndex kArgIndex;

namespace od = simdjson::ondemand;

// Cuts off white space and the comma that simdjson's raw tokens may carry.
static std::string_view Trim(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                            token.back() == '\t' || token.back() == ','))
    token.remove_suffix(1);
  return token;
}

// The key as it stands between its quotes; empty when it is longer than any key that is looked for.
static std::string_view RawKey(od::raw_json_string key) {
  constexpr size_t kLongest = 64;
  const char* begin = key.raw();
  const void* quote = std::memchr(begin, '"', kLongest);
  if (quote == nullptr) return {};
  return {begin, static_cast<size_t>(static_cast<const char*>(quote) - begin)};
}

// A Cursor returns the raw text of values. Every access of simdjson returns an error code; the first one ends the
// event.
struct Cursor {
  simdjson::error_code error = simdjson::SUCCESS;

  std::string_view Token(od::value value) {
    const char first = value.raw_json_token().data()[0];
    if (first == '{' || first == '[') return Whole(value);
    return Trim(value.raw_json_token());
  }
  std::string_view Whole(od::value value) {
    std::string_view text;
    od::json_type type;
    if ((error = value.type().get(type)) != simdjson::SUCCESS) return {};
    if (type == od::json_type::array) {
      od::array array;
      if ((error = value.get_array().get(array)) == simdjson::SUCCESS) error = array.raw_json().get(text);
    } else if (type == od::json_type::object) {
      od::object object;
      if ((error = value.get_object().get(object)) == simdjson::SUCCESS) error = object.raw_json().get(text);
    } else {
      text = value.raw_json_token();
    }
    return Trim(text);
  }
};

// Reads "[x, y, z]"; numbers that are missing or do not fit stay absent.
static void TakeTriple(std::string_view json, std::array<int32_t, 3>& out) {
  if (json.empty() || json.front() != '[') return;
  json.remove_prefix(1);
  for (int32_t& number : out) {
    while (!json.empty() && (json.front() == ' ' || json.front() == '\n' || json.front() == ',' ||
                             json.front() == '\t' || json.front() == '\r'))
      json.remove_prefix(1);
    const size_t end = std::min(json.find_first_of(",] \n\r\t"), json.size());
    const int64_t value = TokenInt(json.substr(0, end));
    if (value == kAbsent || value < 0 || value > INT32_MAX) return;
    number = static_cast<int32_t>(value);
    json.remove_prefix(end);
  }
}

// Stores an argument if a column wants it. Numeric arguments of counters have names of their own, so all of them
// are kept, up to eight.
static void TakeArg(std::string_view key, od::value value, Cursor& cursor, EventFields& event) {
  const ArgTarget* target = kArgIndex.Find(key);
  if (target == nullptr) {
    if (event.ph == "\"C\"" && event.value_count < static_cast<int>(event.values.size()))
      event.values[static_cast<size_t>(event.value_count++)] = {key, cursor.Token(value)};
    return;  // anything else stays in the file; simdjson skips it
  }
  const std::string_view token = cursor.Token(value);
  switch (target->kind) {
    case Arg::kInt: event.*(target->integer) = TokenInt(token); break;
    case Arg::kReal: event.*(target->real) = TokenReal(token); break;
    case Arg::kToken: event.*(target->token) = token; break;
    case Arg::kTriple: TakeTriple(token, event.*(target->triple)); break;
  }
}

static simdjson::error_code TakeArgs(od::value value, EventFields& event) {
  od::json_type type;
  if (auto error = value.type().get(type)) return error;
  if (type != od::json_type::object) return simdjson::SUCCESS;
  od::object args;
  if (auto error = value.get_object().get(args)) return error;
  Cursor cursor;
  for (auto field : args) {
    od::raw_json_string key;
    od::value arg;
    if (auto error = field.key().get(key)) return error;
    if (auto error = field.value().get(arg)) return error;
    TakeArg(RawKey(key), arg, cursor, event);
    if (cursor.error != simdjson::SUCCESS) return cursor.error;
  }
  return simdjson::SUCCESS;
}

// Takes the fields of one event. An error other than SUCCESS ends the event; INCORRECT_TYPE of a counter asks for a
// second attempt, in which the phase is known from the start.
static simdjson::error_code TakeEvent(od::object object, EventFields& event) {
  struct Target {
    std::string_view key;
    std::string_view EventFields::*to;
  };
  static constexpr Target kTargets[] = {
      {"ph", &EventFields::ph},   {"cat", &EventFields::cat}, {"name", &EventFields::name}, {"pid", &EventFields::pid},
      {"tid", &EventFields::tid}, {"ts", &EventFields::ts},   {"dur", &EventFields::dur},   {"id", &EventFields::id}};
  Cursor cursor;
  bool late_phase = false;
  for (auto field : object) {
    od::raw_json_string raw_key;
    od::value value;
    if (auto error = field.key().get(raw_key)) return error;
    if (auto error = field.value().get(value)) return error;
    const std::string_view key = RawKey(raw_key);
    if (key == "args") {
      late_phase = event.ph.empty();
      if (auto error = TakeArgs(value, event)) return error;
      continue;
    }
    for (const Target& target : kTargets)
      if (target.key == key) {
        event.*(target.to) = cursor.Token(value);
        if (cursor.error != simdjson::SUCCESS) return cursor.error;
        break;
      }
  }
  // A counter whose arguments came before its phase: its values were not kept. Parsing again with the phase known gets
  // them.
  return late_phase && event.ph == "\"C\"" ? simdjson::INCORRECT_TYPE : simdjson::SUCCESS;
}

}  // namespace gapless::internal::kineto
