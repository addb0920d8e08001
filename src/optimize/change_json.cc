// SPDX-License-Identifier: Apache-2.0
// Writes a change as JSON, in the form that ParseChange() reads.
#include "base/json_writer.h"
#include "optimize/change.h"

namespace gapless::internal {
namespace {

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.Key(key);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void WriteEdit(JsonWriter& json, const Edit& edit) {
  json.Key("edit");
  json.BeginObject();
  json.Field("kind", NameOf(edit.kind));
  json.FieldUnlessEmpty("file", edit.file);
  if (edit.line > 0) json.Field("line", edit.line);
  if (edit.last > 0) json.Field("last", edit.last);
  json.FieldUnlessEmpty("call", edit.call);
  json.FieldUnlessEmpty("of", edit.of);
  if (!edit.set.empty()) {
    json.Key("set");
    json.BeginObject();
    for (const auto& [name, value] : edit.set) json.Field(name, value);
    json.EndObject();
  }
  WriteTexts(json, "lines", edit.lines);
  WriteTexts(json, "imports", edit.imports);
  json.EndObject();
}

}  // namespace

std::string ToJson(const Change& change) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("fix", change.fix);
  json.Field("value", change.value);
  json.Field("what", change.what);
  if (change.edit.kind != EditKind::kNone) WriteEdit(json, change.edit);
  json.EndObject();
  return out;
}

}  // namespace gapless::internal
