// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <cmath>

#include "base/strings.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

// Length of the valid UTF-8 sequence at the start of `text` (RFC 3629: no overlong forms, no surrogates); 0: there is
// none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) >= 0xA0) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) >= 0x90) return 0;
  return length;
}

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
    const size_t length = SequenceLength(text.substr(i));
    const bool escape = c < 0x20 || c == '"' || c == '\\' || c == 0x7F;
    if (length > 0 && !escape) {
      i += length;
      continue;
    }
    out.append(text.substr(plain, i - plain));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      AppendEscaped(out, text[i]);
    }
    plain = ++i;
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
  out_ += StrCat(value);
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  BeforeValue();
  out_ += "null";
}

void WriteJsonHeader(JsonWriter& json) {
  json.Key("gapless");
  json.BeginObject();
  json.Field("version", kVersion);
  json.Field("schema", kJsonSchema);
  json.EndObject();
}

}  // namespace gapless::internal
