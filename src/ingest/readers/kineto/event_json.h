// SPDX-License-Identifier: Apache-2.0
// Takes the fields of one event from simdjson's view of it. Only parse.cc includes this header. The functions run once
// for each event or argument; they are static, so that the compiler inlines those that are called in one place.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "ingest/readers/kineto/event_arguments.h"

namespace gapless::internal::kineto {

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
