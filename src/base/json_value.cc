// SPDX-License-Identifier: Apache-2.0
// Builds the tree from simdjson's; the only file of the room that includes simdjson. Copying a value is cheap,
// because texts, arrays and objects are shared and never change. Whole numbers beyond int64 become reals.
#include "base/json_value.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>

#include "base/json_writer.h"
#include "base/strings.h"

namespace gapless::internal {

class JsonBuilder {
 public:
  // False: too deep.
  // Goes down at most `levels`, so that a deep document cannot use up the stack.
  static bool Build(const simdjson::dom::element& element, int levels, JsonValue& out) {
    if (levels == 0) return false;
    switch (element.type()) {
      case simdjson::dom::element_type::ARRAY: return BuildArray(element, levels, out);
      case simdjson::dom::element_type::OBJECT: return BuildObject(element, levels, out);
      case simdjson::dom::element_type::STRING: return BuildText(element, out);
      default: return BuildScalar(element, out);
    }
  }

 private:
  static bool BuildScalar(const simdjson::dom::element& element, JsonValue& out) {
    bool flag = false;
    uint64_t large = 0;
    if (element.get(out.integer_) == simdjson::SUCCESS) {
      out.kind_ = JsonValue::Kind::kInt;
      out.real_ = static_cast<double>(out.integer_);
    } else if (element.get(large) == simdjson::SUCCESS) {
      out.kind_ = JsonValue::Kind::kReal;
      out.real_ = static_cast<double>(large);
    } else if (element.get(out.real_) == simdjson::SUCCESS) {
      out.kind_ = JsonValue::Kind::kReal;
    } else if (element.get(flag) == simdjson::SUCCESS) {
      out.kind_ = JsonValue::Kind::kBool;
      out.integer_ = flag ? 1 : 0;
    }
    return true;
  }

  static bool BuildText(const simdjson::dom::element& element, JsonValue& out) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return false;
    auto compound = std::make_shared<JsonValue::Compound>();
    compound->text = text;
    out.kind_ = JsonValue::Kind::kText;
    out.compound_ = std::move(compound);
    return true;
  }

  static bool BuildArray(const simdjson::dom::element& element, int levels, JsonValue& out) {
    simdjson::dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return false;
    auto compound = std::make_shared<JsonValue::Compound>();
    for (const simdjson::dom::element item : array)
      if (!Build(item, levels - 1, compound->items.emplace_back())) return false;
    out.kind_ = JsonValue::Kind::kArray;
    out.compound_ = std::move(compound);
    return true;
  }

  static bool BuildObject(const simdjson::dom::element& element, int levels, JsonValue& out) {
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return false;
    auto compound = std::make_shared<JsonValue::Compound>();
    for (const simdjson::dom::key_value_pair member : object) {
      compound->keys.emplace_back(member.key);
      if (!Build(member.value, levels - 1, compound->items.emplace_back())) return false;
    }
    out.kind_ = JsonValue::Kind::kObject;
    out.compound_ = std::move(compound);
    return true;
  }
};

namespace {

constexpr int kDeepest = 100;

// NaN, Infinity and -Infinity outside of texts become null.
std::string WithoutNan(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      out += text.substr(i, 2);
      ++i;
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    size_t length = 0;
    if (!quoted)
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
        if (text.substr(i).starts_with(word)) length = std::max(length, word.size());
    out += length > 0 ? std::string_view("null") : text.substr(i, 1);
    i += length > 0 ? length - 1 : 0;
  }
  return out;
}

void Write(JsonWriter& json, const JsonValue& value) {
  switch (value.kind()) {
    case JsonValue::Kind::kNull: return json.Null();
    case JsonValue::Kind::kBool: return json.Bool(*value.Bool());
    case JsonValue::Kind::kInt: return json.Int(*value.Int());
    case JsonValue::Kind::kReal: return json.Real(*value.Number());
    case JsonValue::Kind::kText: return json.String(*value.Text());
    case JsonValue::Kind::kArray:
      json.BeginArray();
      for (const JsonValue& item : value.items()) Write(json, item);
      return json.EndArray();
    case JsonValue::Kind::kObject:
      json.BeginObject();
      for (size_t i = 0; i < value.items().size(); ++i) {
        json.Key(value.keys()[i]);
        Write(json, value.items()[i]);
      }
      return json.EndObject();
  }
}

}  // namespace

Result<JsonValue> JsonValue::Parse(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  auto code = parser.parse(text.data(), text.size()).get(element);
  if (code != simdjson::SUCCESS &&
      (text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos))
    code = parser.parse(WithoutNan(text)).get(element);
  if (code == simdjson::MEMALLOC) throw std::bad_alloc();
  if (code != simdjson::SUCCESS) return Fail(ErrorCode::kInput, StrCat("no JSON: ", simdjson::error_message(code)));
  JsonValue value;
  if (!JsonBuilder::Build(element, kDeepest, value)) return Fail(ErrorCode::kInput, "JSON with more than 100 levels");
  return value;
}

std::optional<double> JsonValue::Number() const {
  return kind_ == Kind::kInt || kind_ == Kind::kReal ? std::optional(real_) : std::nullopt;
}

std::optional<int64_t> JsonValue::Int() const { return kind_ == Kind::kInt ? std::optional(integer_) : std::nullopt; }

std::optional<bool> JsonValue::Bool() const {
  return kind_ == Kind::kBool ? std::optional(integer_ != 0) : std::nullopt;
}

const std::string* JsonValue::Text() const { return kind_ == Kind::kText ? &compound_->text : nullptr; }

std::optional<double> JsonValue::NumberIn() const {
  const std::string* const text = Text();
  if (text == nullptr) return Number();
  double number = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (code != std::errc() || end != text->data() + text->size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

const std::vector<JsonValue>& JsonValue::items() const {
  static const std::vector<JsonValue> kNone;
  return compound_ ? compound_->items : kNone;
}

const std::vector<std::string>& JsonValue::keys() const {
  static const std::vector<std::string> kNone;
  return compound_ ? compound_->keys : kNone;
}

const JsonValue* JsonValue::Find(std::string_view key) const {
  for (size_t i = 0; i < keys().size(); ++i)
    if (keys()[i] == key) return &items()[i];
  return nullptr;
}

const JsonValue& JsonValue::Get(std::string_view key) const {
  static const JsonValue kNothing;
  const JsonValue* const found = Find(key);
  return found == nullptr ? kNothing : *found;
}

std::string JsonValue::TextOf(std::string_view key) const {
  const std::string* const text = Get(key).Text();
  return text == nullptr ? std::string() : *text;
}

std::string ToJson(const JsonValue& value) {
  std::string out;
  JsonWriter json(out);
  Write(json, value);
  return out;
}

}  // namespace gapless::internal
