// SPDX-License-Identifier: Apache-2.0
// Parses the JSON of a fix's report, with the edits of the user's script that have the same effect, and writes it in
// the form that is read.
//
// The text comes from the process that trains, so nothing in it is trusted: unknown kinds of edits become "no
// edit", numbers of lines are limited, other types than expected are ignored, and secrets in sentences are
// redacted. What an edit may write into a file is checked where it is applied (patch/file_editor.cc).
#include "optimize/change.h"

#include <algorithm>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/redact.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMaxLines = 10'000'000;

constexpr std::pair<std::string_view, EditKind> kKinds[] = {{"keywords", EditKind::kKeywords},
                                                            {"before", EditKind::kBefore},
                                                            {"after", EditKind::kAfter},
                                                            {"with", EditKind::kWith},
                                                            {"replace", EditKind::kReplace},
                                                            {"after_imports", EditKind::kAfterImports},
                                                            {"environment", EditKind::kEnvironment}};

EditKind KindOf(std::string_view name) {
  for (const auto& [known, kind] : kKinds)
    if (known == name) return kind;
  return EditKind::kNone;
}

std::vector<std::string> Texts(const JsonValue& list) {
  std::vector<std::string> texts;
  for (const JsonValue& item : list.items())
    if (item.Text() != nullptr) texts.push_back(*item.Text());
  return texts;
}

// Returns a value as Python writes it; "" for null, lists and objects. Texts are Python expressions already.
std::string PythonText(const JsonValue& value) {
  if (value.Text() != nullptr) return *value.Text();
  if (value.Bool()) return *value.Bool() ? "True" : "False";
  return value.Number() ? ToJson(value) : "";
}

int LineOf(const JsonValue& json, std::string_view name) {
  return static_cast<int>(std::clamp<int64_t>(json.Get(name).Int().value_or(0), 0, kMaxLines));
}

Edit ParseEdit(const JsonValue& json, bool may_have_more = true) {
  Edit edit{.kind = KindOf(json.TextOf("kind"))};
  if (edit.kind == EditKind::kNone) return edit;
  edit.file = json.TextOf("file");
  edit.line = LineOf(json, "line");
  edit.last = LineOf(json, "last");
  edit.call = json.TextOf("call");
  edit.of = json.TextOf("of");
  const JsonValue& set = json.Get("set");
  for (size_t i = 0; i < set.keys().size(); ++i)
    if (const std::string text = PythonText(set.items()[i]); !text.empty()) edit.set.emplace_back(set.keys()[i], text);
  edit.lines = Texts(json.Get("lines"));
  edit.imports = Texts(json.Get("imports"));
  if (!may_have_more) return edit;
  for (const JsonValue& item : json.Get("more").items()) {
    edit.more.push_back(ParseEdit(item, false));
    // Without one of them the others could leave the script broken.
    if (edit.more.back().kind == EditKind::kNone || edit.more.back().file != edit.file) return {};
  }
  return edit;
}

}  // namespace

std::string_view NameOf(EditKind kind) {
  for (const auto& [name, known] : kKinds)
    if (known == kind) return name;
  return "";
}

Result<Change> ParseChange(std::string_view json, int value) {
  GAPLESS_ASSIGN(const auto parsed, JsonValue::Parse(json));
  Change change{
      .fix = parsed.TextOf("fix"), .value = PythonText(parsed.Get("value")), .what = RedactText(parsed.TextOf("what"))};
  if (change.fix.empty()) return Fail(ErrorCode::kInput, "the record of a fix names none");
  if (value < 0 || value > 2) return Fail(ErrorCode::kInput, StrCat("the record of ", change.fix, " has no state"));
  change.state = static_cast<ChangeState>(value);
  change.edit = ParseEdit(parsed.Get("edit"));
  return change;
}

namespace {

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.Key(key);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void WriteEdit(JsonWriter& json, const Edit& edit) {
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
  if (!edit.more.empty()) {
    json.Key("more");
    json.BeginArray();
    for (const Edit& further : edit.more) WriteEdit(json, further);
    json.EndArray();
  }
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
  if (change.edit.kind != EditKind::kNone) {
    json.Key("edit");
    WriteEdit(json, change.edit);
  }
  json.EndObject();
  return out;
}

}  // namespace gapless::internal
