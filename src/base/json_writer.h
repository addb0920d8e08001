// SPDX-License-Identifier: Apache-2.0
// Writes JSON (RFC 8259) into a string. Texts may hold anything: invalid UTF-8 becomes U+FFFD, control characters are
// escaped. Numbers are exact: 64-bit integers as integers, doubles in the shortest form that reads back equal; a NaN or
// an infinity, which JSON does not have, is written as null.
//
//   JsonWriter json(out, 2);
//   json.BeginObject();
//   json.Field("steps", 5);
//   json.Key("names"); json.BeginArray(); json.String("a"); json.EndArray();
//   json.EndObject();
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// A JsonWriter appends to a string that must outlive it. Nothing checks that brackets match or that a key has a
// value.
class JsonWriter {
 public:
  // `indent` spaces per level, each value on its own line; 0: all on one line.
  explicit JsonWriter(std::string& out, int indent = 0) : out_(out), indent_(indent) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view key);
  void String(std::string_view text);
  void Int(int64_t value);
  void Real(double value);
  void Bool(bool value);
  void Null();

  void Value(std::string_view text) { String(text); }
  void Value(const char* text) { String(text); }
  void Value(double value) { Real(value); }
  void Value(bool value) { Bool(value); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void Value(T value) {
    Int(static_cast<int64_t>(value));
  }

  template <class T>
  void Field(std::string_view key, const T& value) {
    Key(key);
    Value(value);
  }
  // Absent is a missing key.
  template <class T>
  void Field(std::string_view key, const std::optional<T>& value) {
    if (value) Field(key, *value);
  }
  void FieldUnlessEmpty(std::string_view key, std::string_view text) {
    if (!text.empty()) Field(key, text);
  }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void BeforeValue();
  void NewLine();

  std::string& out_;
  int indent_;
  std::vector<bool> has_items_;  // per open bracket
  bool after_key_ = false;
};

// `text` as a JSON string, with its quotes.
void AppendJsonString(std::string& out, std::string_view text);

// The key "gapless" that every JSON document of the program begins with: its version, that of the schema and, unless it
// is empty, the command that printed it.
void WriteJsonHeader(JsonWriter& json, std::string_view command = {});

}  // namespace gapless::internal
