// SPDX-License-Identifier: Apache-2.0
// Writes described values as JSON. Walks the description, so the order of keys is that of the list of fields,
// always the same. A missing value is a missing key.
#include "base/described_json.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

// Returns true if the value is the one that stands for "missing": 0, false, no text, no items.
bool IsEmpty(const TypeInfo& type, const void* value) {
  switch (type.kind) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kEnum: return type.integer(value) == 0;
    case Kind::kReal: return type.real(value) == 0;
    case Kind::kText: return type.text(value).empty();
    case Kind::kList:
    case Kind::kMap: return type.size(value) == 0;
    case Kind::kScalar: return std::holds_alternative<std::monostate>(*static_cast<const JsonScalar*>(value));
    case Kind::kObject: break;
  }
  return false;
}

void WriteScalar(JsonWriter& json, const JsonScalar& scalar) {
  if (const auto* integer = std::get_if<int64_t>(&scalar)) return json.Int(*integer);
  if (const auto* real = std::get_if<double>(&scalar)) return json.Real(*real);
  if (const auto* text = std::get_if<std::string>(&scalar)) return json.String(*text);
  json.Null();
}

struct MapEntries {
  JsonWriter& json;
  const TypeInfo& item;
};

void WriteMap(JsonWriter& json, const TypeInfo& type, const void* value) {
  MapEntries entries{json, *type.item};
  json.BeginObject();
  type.visit(value, &entries, [](void* context, std::string_view key, const void* entry) {
    auto& [writer, item] = *static_cast<MapEntries*>(context);
    writer.Key(key);
    WriteJson(writer, item, entry);
  });
  json.EndObject();
}

}  // namespace

void WriteFields(JsonWriter& json, const TypeInfo& type, const void* value) {
  for (const FieldInfo& field : type.fields) {
    if (field.use == FieldUse::kHidden) continue;
    const void* member = field.get(value);
    if (member == nullptr || (field.IsLeftOutWhenEmpty() && IsEmpty(*field.type, member))) continue;
    if (field.use == FieldUse::kSpliced) {
      WriteFields(json, *field.type, member);
    } else {
      json.Key(field.name);
      WriteJson(json, *field.type, member);
    }
  }
}

void WriteJson(JsonWriter& json, const TypeInfo& type, const void* value) {
  switch (type.kind) {
    case Kind::kBool: return json.Bool(type.integer(value) != 0);
    case Kind::kInt: return json.Int(type.integer(value));
    case Kind::kReal: return json.Real(type.real(value));
    case Kind::kText: return json.String(type.text(value));
    case Kind::kEnum: return json.String(type.name_of(type.integer(value)));
    case Kind::kScalar: return WriteScalar(json, *static_cast<const JsonScalar*>(value));
    case Kind::kMap: return WriteMap(json, type, value);
    case Kind::kList:
      json.BeginArray();
      for (size_t i = 0, size = type.size(value); i < size; ++i) WriteJson(json, *type.item, type.at(value, i));
      return json.EndArray();
    case Kind::kObject: break;
  }
  json.BeginObject();
  WriteFields(json, type, value);
  json.EndObject();
}

void WriteDocument(JsonWriter& json, std::string_view command, const TypeInfo& type, const void* value,
                   std::span<const std::string> warnings) {
  json.BeginObject();
  WriteJsonHeader(json, command);
  WriteFields(json, type, value);
  json.Key("warnings");
  json.BeginArray();
  for (const std::string& warning : warnings) json.String(warning);
  json.EndArray();
  json.EndObject();
}

std::string DocumentOf(std::string_view command, const TypeInfo& type, const void* value,
                       std::span<const std::string> warnings) {
  std::string out;
  JsonWriter json(out, 2);
  WriteDocument(json, command, type, value, warnings);
  return out + "\n";
}

}  // namespace gapless::internal
