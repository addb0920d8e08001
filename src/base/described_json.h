// SPDX-License-Identifier: Apache-2.0
// JSON of described values (base/describe.h): written, read back, described by a schema, typed for TypeScript.
//
// A document of the program is an object with the envelope that all of them share: "gapless" {version, schema,
// schema_version, command} before its own fields, and "warnings" behind them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/result.h"

namespace gapless::internal {

void WriteJson(JsonWriter& json, const TypeInfo& type, const void* value);
template <class T>
void WriteJson(JsonWriter& json, const T& value) {
  WriteJson(json, TypeOf<T>::kInfo, &value);
}

// The fields of an object alone, into one that is open.
void WriteFields(JsonWriter& json, const TypeInfo& type, const void* value);
template <class T>
void WriteFields(JsonWriter& json, const T& value) {
  WriteFields(json, TypeOf<T>::kInfo, &value);
}

// The document of a command, as an object.
void WriteDocument(JsonWriter& json, std::string_view command, const TypeInfo& type, const void* value,
                   std::span<const std::string> warnings);
// The same as a text of its own: two spaces a level, with a newline at its end.
std::string DocumentOf(std::string_view command, const TypeInfo& type, const void* value,
                       std::span<const std::string> warnings);
template <class T>
std::string DocumentOf(std::string_view command, const T& value, std::span<const std::string> warnings = {}) {
  return DocumentOf(command, TypeOf<T>::kInfo, &value, warnings);
}

// Fills `value`, which may hold defaults. The place of an error is the path of what is wrong: "/2/gain/low". Keys that
// the description does not have are left alone. Python's NaN and Infinity are read as null is, as a number that is not
// known.
Result<void> ReadJson(const JsonValue& json, const TypeInfo& type, void* value);
template <class T>
Result<T> ReadJson(const JsonValue& json) {
  T value{};
  GAPLESS_TRY(ReadJson(json, TypeOf<T>::kInfo, &value));
  return value;
}
template <class T>
Result<T> ReadJson(std::string_view text) {
  GAPLESS_ASSIGN(const auto json, JsonValue::Parse(text));
  return ReadJson<T>(json);
}

// JSON Schema (draft 2020-12) of what a command prints: one of `documents`. A document that is no object (the rows of a
// query) has no envelope.
std::string SchemaOf(std::string_view command, std::span<const TypeInfo* const> documents);
// `export interface` of each object below `type`, those it needs first; the last one is a document of a command.
std::string TypeScriptOf(const TypeInfo& document);
// The same of several types that are no documents of a command.
std::string TypeScriptOf(std::span<const TypeInfo* const> types);

}  // namespace gapless::internal
