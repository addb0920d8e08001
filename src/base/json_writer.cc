// SPDX-License-Identifier: Apache-2.0
// Implements JsonWriter: separators and indents from a stack of open brackets, numbers by std::to_chars, which writes
// the shortest text that reads back equal.
#include "base/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

constexpr double kLargestPlain = 1e18;

void AppendEscaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto value = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[value >> 4];
  out += kHex[value & 15];
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t plain = 0;  // start of what can be copied as it is
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = Utf8SequenceLength(text.substr(i));
    // U+0080 to U+009F are control characters of a terminal, too; their second byte is their code.
    const bool is_control = c < 0x20 || c == 0x7F || (length == 2 && c == 0xC2 && (text[i + 1] & 0x60) == 0);
    if (length > 0 && !is_control && c != '"' && c != '\\') {
      i += length;
      continue;
    }
    out.append(text.substr(plain, i - plain));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      AppendEscaped(out, text[i + length - 1]);
    }
    plain = i += std::max<size_t>(length, 1);
  }
  out.append(text.substr(plain));
  out += '"';
}

void JsonWriter::NewLine() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(static_cast<size_t>(indent_) * has_items_.size(), ' ');
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_ += indent_ == 0 ? ", " : ",";
  has_items_.back() = true;
  NewLine();
}

void JsonWriter::Open(char bracket) {
  BeforeValue();
  out_ += bracket;
  has_items_.push_back(false);
}

void JsonWriter::Close(char bracket) {
  const bool had_items = has_items_.back();
  has_items_.pop_back();
  if (had_items) NewLine();
  out_ += bracket;
}

void JsonWriter::Key(std::string_view key) {
  BeforeValue();
  AppendJsonString(out_, key);
  out_ += ": ";
  after_key_ = true;
}

void JsonWriter::String(std::string_view text) {
  BeforeValue();
  AppendJsonString(out_, text);
}

void JsonWriter::Int(int64_t value) {
  BeforeValue();
  out_ += StrCat(value);
}

void JsonWriter::Real(double value) {
  if (!std::isfinite(value)) return Null();
  BeforeValue();
  char text[32];
  // An integer without an exponent that no 64-bit integer holds is refused by many readers.
  const bool plain = std::fabs(value) < kLargestPlain;
  const auto end = plain ? std::to_chars(text, text + sizeof text, value).ptr
                         : std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  out_.append(text, end);
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  BeforeValue();
  out_ += "null";
}

void WriteJsonHeader(JsonWriter& json, std::string_view command) {
  json.Key("gapless");
  json.BeginObject();
  json.Field("version", kVersion);
  json.Field("schema", kJsonSchema);
  json.Field("schema_version", kJsonSchema);
  json.FieldUnlessEmpty("command", command);
  json.EndObject();
}

}  // namespace gapless::internal
