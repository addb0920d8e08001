// SPDX-License-Identifier: Apache-2.0
// Fills described values from JSON.
//
// Walks the description, not the document: fields in the order of the list, each found by its key. The first fault
// ends the reading, with the path of the value ("/2/gain/low"); what was filled until then stays. Keys that the
// description does not have are ignored, so that documents of newer versions can be read. Looking up a key is
// linear in the keys of its object.
#include <limits>

#include "base/described_json.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

Result<void> Read(const JsonValue& json, const TypeInfo& type, void* value, const std::string& path);

Unexpected Wrong(std::string_view what, const std::string& path) {
  return Fail(ErrorCode::kInput, std::string(what), path.empty() ? "/" : path);
}

Result<void> ReadInteger(const JsonValue& json, const TypeInfo& type, void* value, const std::string& path) {
  const auto integer = json.Int();
  if (!integer) return Wrong("not a whole number", path);
  if (*integer < type.min_integer || *integer > type.max_integer) return Wrong("out of range", path);
  type.set_integer(value, *integer);
  return {};
}

Result<void> ReadReal(const JsonValue& json, const TypeInfo& type, void* value, const std::string& path) {
  if (json.kind() == JsonValue::Kind::kNull) {
    type.set_real(value, std::numeric_limits<double>::quiet_NaN());
    return {};
  }
  const auto real = json.Number();
  if (!real) return Wrong("not a number", path);
  type.set_real(value, *real);
  return {};
}

// Reads a text, or an enum by the word of each of its values.
Result<void> ReadWord(const JsonValue& json, const TypeInfo& type, void* value, const std::string& path) {
  const std::string* const text = json.Text();
  if (text == nullptr) return Wrong("not a text", path);
  if (type.kind == Kind::kText) {
    if (type.set_text == nullptr) return Wrong("this text cannot be read back", path);
    type.set_text(value, *text);
    return {};
  }
  for (int64_t i = 0; i < type.values; ++i)
    if (type.name_of(i) == *text) return type.set_integer(value, i), Result<void>();
  return Wrong(StrCat("unknown word '", Printable(*text), "'"), path);
}

Result<void> ReadScalar(const JsonValue& json, void* value, const std::string& path) {
  auto& scalar = *static_cast<JsonScalar*>(value);
  if (const auto integer = json.Int())
    scalar = *integer;
  else if (const auto real = json.Number())
    scalar = *real;
  else if (json.Text() != nullptr)
    scalar = *json.Text();
  else if (json.kind() == JsonValue::Kind::kNull)
    scalar = std::monostate();
  else
    return Wrong("neither a number nor a text nor null", path);
  return {};
}

Result<void> ReadItems(const JsonValue& json, const TypeInfo& type, void* value, const std::string& path) {
  if (type.kind == Kind::kList ? !json.is_array() : !json.is_object())
    return Wrong(type.kind == Kind::kList ? "not a list" : "not an object", path);
  if (type.kind == Kind::kMap && type.insert == nullptr) return Wrong("these keys cannot be read back", path);
  for (size_t i = 0; i < json.items().size(); ++i) {
    const std::string key = type.kind == Kind::kList ? StrCat(i) : json.keys()[i];
    void* const item = type.kind == Kind::kList ? type.append(value) : type.insert(value, key);
    GAPLESS_TRY(Read(json.items()[i], *type.item, item, StrCat(path, "/", key)));
  }
  return {};
}

// A spliced member reads from the same object. A missing key is an error unless the field may be missing.
Result<void> ReadFields(const JsonValue& json, const TypeInfo& type, void* value, const std::string& path) {
  if (!json.is_object()) return Wrong("not an object", path);
  for (const FieldInfo& field : type.fields) {
    if (field.use == FieldUse::kHidden) continue;
    if (field.make == nullptr) return Wrong("this value cannot be read back", StrCat(path, "/", field.name));
    if (field.use == FieldUse::kSpliced) {
      GAPLESS_TRY(ReadFields(json, *field.type, field.make(value), path));
      continue;
    }
    const std::string below = StrCat(path, "/", field.name);
    const JsonValue* const found = json.Find(field.name);
    if (found == nullptr && field.MayBeMissing()) continue;
    if (found == nullptr) return Wrong("missing", below);
    GAPLESS_TRY(Read(*found, *field.type, field.make(value), below));
  }
  return {};
}

Result<void> Read(const JsonValue& json, const TypeInfo& type, void* value, const std::string& path) {
  switch (type.kind) {
    case Kind::kBool:
      if (!json.Bool()) return Wrong("neither true nor false", path);
      type.set_integer(value, *json.Bool() ? 1 : 0);
      return {};
    case Kind::kInt: return ReadInteger(json, type, value, path);
    case Kind::kReal: return ReadReal(json, type, value, path);
    case Kind::kText:
    case Kind::kEnum: return ReadWord(json, type, value, path);
    case Kind::kScalar: return ReadScalar(json, value, path);
    case Kind::kList:
    case Kind::kMap: return ReadItems(json, type, value, path);
    case Kind::kObject: break;
  }
  return ReadFields(json, type, value, path);
}

}  // namespace

Result<void> ReadJson(const JsonValue& json, const TypeInfo& type, void* value) { return Read(json, type, value, ""); }

}  // namespace gapless::internal
