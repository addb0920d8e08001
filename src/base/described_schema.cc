// SPDX-License-Identifier: Apache-2.0
// Writes the JSON Schema of described types. Objects and enums become $defs, each once, under the name of its
// type.
//
// Units narrow the schema: shares lie in 0–1, percentages in 0–100, ratios above 0, times in ns and counts not
// below 0. Objects allow no further properties, which makes the schema describe this version's documents exactly.
#include <map>

#include "base/described_json.h"
#include "base/described_routes.h"
#include "base/strings.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

// Gives each type its name in $defs: its own or, where two types share a name, one with a number behind.
class Definitions {
 public:
  const std::string& NameOf(const TypeInfo& type) {
    const auto [found, is_new] = names_.try_emplace(&type);
    if (is_new) {
      const int uses = ++uses_[type.name];
      found->second = uses == 1 ? std::string(type.name) : StrCat(type.name, uses);
      order_.push_back(&type);
    }
    return found->second;
  }
  // In the order in which they were named; naming more while visiting is fine.
  template <class Visit>
  void VisitAll(const Visit& visit) {
    for (size_t i = 0; i < order_.size(); ++i)  // NOLINT(modernize-loop-convert): it grows meanwhile
      visit(*order_[i], names_[order_[i]]);
  }

 private:
  std::map<const TypeInfo*, std::string> names_;
  std::map<std::string_view, int> uses_;
  std::vector<const TypeInfo*> order_;
};

class SchemaWriter {
 public:
  explicit SchemaWriter(JsonWriter& json) : json_(json) {}

  // The keywords of a value's schema, into an object that is open.
  void WriteKeywords(const TypeInfo& type, std::string_view unit, bool is_nullable) {
    switch (type.kind) {
      case Kind::kBool: return json_.Field("type", "boolean");
      case Kind::kInt: return WriteInteger(type, unit);
      case Kind::kReal: return WriteReal(unit, is_nullable);
      case Kind::kText: return json_.Field("type", "string");
      case Kind::kScalar: return WriteTypes({"number", "string", "null"});
      case Kind::kEnum:
      case Kind::kObject: return json_.Field("$ref", StrCat("#/$defs/", definitions_.NameOf(type)));
      case Kind::kList:
      case Kind::kMap: break;
    }
    json_.Field("type", type.kind == Kind::kList ? "array" : "object");
    json_.Key(type.kind == Kind::kList ? "items" : "additionalProperties");
    json_.BeginObject();
    WriteKeywords(*type.item, unit, is_nullable);
    json_.EndObject();
  }

  // An object's own; `is_document` adds the envelope.
  void WriteObject(const TypeInfo& type, bool is_document) {
    json_.Field("type", "object");
    json_.Key("properties");
    json_.BeginObject();
    if (is_document) WriteReference("gapless", "#/$defs/gapless");
    WriteProperties(type);
    if (is_document) WriteTexts("warnings");
    json_.EndObject();
    json_.Key("required");
    json_.BeginArray();
    if (is_document) json_.String("gapless");
    WriteRequired(type);
    if (is_document) json_.String("warnings");
    json_.EndArray();
    json_.Field("additionalProperties", false);
  }

  // The answer of a route, into an object that is open.
  void WriteRoute(const DescribedRoute& route) {
    const std::string document = StrCat("urn:gapless:schema:", route.command, ":", kJsonSchema);
    if (route.command.empty()) return WriteKeywords(*route.type, "", false);
    if (route.type == nullptr) return json_.Field("$ref", document);
    json_.Field("type", "object");
    json_.Key("properties");
    json_.BeginObject();
    WriteReference(route.command, document);
    WriteProperties(*route.type);
    json_.EndObject();
    json_.Key("required");
    json_.BeginArray();
    json_.String(route.command);
    WriteRequired(*route.type);
    json_.EndArray();
    json_.Field("additionalProperties", false);
  }

  void WriteDefinitions(bool of_documents = true) {
    json_.Key("$defs");
    json_.BeginObject();
    if (of_documents) WriteEnvelope();
    definitions_.VisitAll([this](const TypeInfo& type, const std::string& name) {
      json_.Key(name);
      json_.BeginObject();
      if (type.kind == Kind::kEnum)
        WriteWords(type);
      else
        WriteObject(type, false);
      json_.EndObject();
    });
    json_.EndObject();
  }

 private:
  void WriteReference(std::string_view key, std::string_view target) {
    json_.Key(key);
    json_.BeginObject();
    json_.Field("$ref", target);
    json_.EndObject();
  }

  void WriteTypes(std::initializer_list<std::string_view> types) {
    json_.Key("type");
    json_.BeginArray();
    for (const std::string_view type : types) json_.String(type);
    json_.EndArray();
  }

  void WriteTexts(std::string_view key) {
    json_.Key(key);
    json_.BeginObject();
    json_.Field("type", "array");
    json_.Key("items");
    json_.BeginObject();
    json_.Field("type", "string");
    json_.EndObject();
    json_.EndObject();
  }

  void WriteInteger(const TypeInfo& type, std::string_view unit) {
    json_.Field("type", "integer");
    if (type.min_integer == 0 || unit == "ns" || unit == "count") json_.Field("minimum", 0);
  }

  void WriteReal(std::string_view unit, bool is_nullable) {
    if (is_nullable)
      WriteTypes({"number", "null"});
    else
      json_.Field("type", "number");
    if (unit == "share" || unit == "percent") {
      json_.Field("minimum", 0);
      json_.Field("maximum", unit == "share" ? 1 : 100);
    }
    if (unit == "ratio") json_.Field("exclusiveMinimum", 0);
  }

  void WriteWords(const TypeInfo& type) {
    json_.Key("enum");
    json_.BeginArray();
    for (int64_t i = 0; i < type.values; ++i) json_.String(type.name_of(i));
    json_.EndArray();
  }

  void WriteProperties(const TypeInfo& type) {
    for (const FieldInfo& field : type.fields) {
      if (field.use == FieldUse::kHidden) continue;
      if (field.use == FieldUse::kSpliced) {
        WriteProperties(*field.type);
        continue;
      }
      json_.Key(field.name);
      json_.BeginObject();
      WriteKeywords(*field.type, field.unit, field.HasNulls());
      const std::string unit = field.unit.empty() ? "" : StrCat(field.help.empty() ? "[" : " [", field.unit, "]");
      json_.FieldUnlessEmpty("description", StrCat(field.help, unit));
      json_.EndObject();
    }
  }

  void WriteRequired(const TypeInfo& type) {
    for (const FieldInfo& field : type.fields) {
      if (field.use == FieldUse::kHidden || field.MayBeMissing()) continue;
      if (field.use == FieldUse::kSpliced)
        WriteRequired(*field.type);
      else
        json_.String(field.name);
    }
  }

  void WriteEnvelope() {
    json_.Key("gapless");
    json_.BeginObject();
    json_.Field("type", "object");
    json_.Key("properties");
    json_.BeginObject();
    for (const std::string_view key : {"version", "command"}) {
      json_.Key(key);
      json_.BeginObject();
      json_.Field("type", "string");
      json_.EndObject();
    }
    for (const std::string_view key : {"schema", "schema_version"}) {
      json_.Key(key);
      json_.BeginObject();
      json_.Field("const", kJsonSchema);
      json_.EndObject();
    }
    json_.EndObject();
    json_.Key("required");
    json_.BeginArray();
    for (const std::string_view key : {"version", "schema", "schema_version", "command"}) json_.String(key);
    json_.EndArray();
    json_.Field("additionalProperties", false);
    json_.EndObject();
  }

  JsonWriter& json_;
  Definitions definitions_;
};

}  // namespace

std::string SchemaOf(std::string_view command, std::span<const TypeInfo* const> documents) {
  std::string out;
  JsonWriter json(out, 2);
  SchemaWriter schema(json);
  json.BeginObject();
  json.Field("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.Field("$id", StrCat("urn:gapless:schema:", command, ":", kJsonSchema));
  json.Field("title", StrCat("gapless ", command, " --json"));
  json.Field("description",
             "A key that is missing was not recorded or does not apply; it is never 0 instead. New keys may come; none "
             "changes its meaning within one schema number.");
  json.Key("anyOf");
  json.BeginArray();
  for (const TypeInfo* document : documents) {
    json.BeginObject();
    if (document->kind == Kind::kObject)
      schema.WriteObject(*document, true);
    else
      schema.WriteKeywords(*document, "", false);
    json.EndObject();
  }
  json.EndArray();
  schema.WriteDefinitions();
  json.EndObject();
  return out + "\n";
}

std::string SchemaOfRoutes(std::string_view server, std::span<const DescribedRoute> routes) {
  std::string out;
  JsonWriter json(out, 2);
  SchemaWriter schema(json);
  json.BeginObject();
  json.Field("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.Field("$id", StrCat("urn:gapless:schema:", server, "-routes:", kJsonSchema));
  json.Field("title", StrCat("answers of gapless ", server));
  json.Field("description", "Each property is a route, and its schema that of the answer. ID stands for an id.");
  json.Field("type", "object");
  json.Key("properties");
  json.BeginObject();
  for (const DescribedRoute& route : routes) {
    json.Key(route.path);
    json.BeginObject();
    schema.WriteRoute(route);
    json.EndObject();
  }
  json.EndObject();
  json.Field("additionalProperties", false);
  schema.WriteDefinitions(false);
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
