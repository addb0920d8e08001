// SPDX-License-Identifier: Apache-2.0
// Reads XML 1.0 from the front: each step takes one piece of markup off the text. Sections 2.4 to 2.8, 3.1 and 4.1 of
// the standard, without document types.
#include "store/xml_reader.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostDeep = 64, kMostAttributes = 1000;
constexpr std::string_view kXmlBlank = " \t\r\n";

bool IsNameByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
         c == '-' || c == '.' || byte >= 0x80;
}
bool MayBegin(char c) { return IsNameByte(c) && !(c >= '0' && c <= '9') && c != '-' && c != '.'; }

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Returns the character as UTF-8; "" if XML has no such character.
std::string Utf8Of(uint32_t c) {
  const bool is_control = c < 0x20 && c != '\t' && c != '\n' && c != '\r';
  if (is_control || (c >= 0xD800 && c <= 0xDFFF) || c == 0xFFFE || c == 0xFFFF || c > 0x10FFFF) return "";
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  const auto rest = [&](int shift) { return byte(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | (c >> 6)), rest(0)};
  if (c < 0x10000) return {byte(0xE0 | (c >> 12)), rest(6), rest(0)};
  return {byte(0xF0 | (c >> 18)), rest(12), rest(6), rest(0)};
}

// Returns what the reference between "&" and ";" stands for; "" if there is no such one.
std::string CharacterOf(std::string_view reference) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [name, character] : kNamed)
    if (reference == name) return {character};
  if (!reference.starts_with('#')) return "";
  const bool is_hex = reference.starts_with("#x");
  const std::string_view digits = reference.substr(is_hex ? 2 : 1);
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
  return error == std::errc() && end == digits.data() + digits.size() ? Utf8Of(code) : "";
}

}  // namespace

Unexpected XmlReader::Fault(std::string_view what) const {
  const auto read = all_.substr(0, all_.size() - text_.size());
  return Fail(ErrorCode::kInput,
              StrCat("this is no valid XML: ", what, " in line ", std::ranges::count(read, '\n') + 1), "",
              text_.empty() ? "is the file complete?" : "");
}

void XmlReader::TakeBlank() { text_.remove_prefix(std::min(text_.find_first_not_of(kXmlBlank), text_.size())); }

std::string_view XmlReader::TakeName() {
  if (text_.empty() || !MayBegin(text_[0])) return "";
  const size_t length = static_cast<size_t>(std::ranges::find_if_not(text_, IsNameByte) - text_.begin());
  const std::string_view name = text_.substr(0, length);
  text_.remove_prefix(length);
  return IsUtf8(name) ? name : "";
}

Result<void> XmlReader::SkipPast(size_t opening, std::string_view end, std::string_view what) {
  const size_t at = text_.find(end, opening);
  if (at == std::string_view::npos) {
    text_ = {};
    return Fault(StrCat(what, " that does not end"));
  }
  text_.remove_prefix(at + end.size());
  return {};
}

Result<std::string> XmlReader::Resolve(std::string_view value) const {
  std::string resolved;
  for (size_t at = value.find('&'); at != std::string_view::npos; at = value.find('&')) {
    const size_t end = value.find(';', at);
    const std::string character = end == std::string_view::npos ? "" : CharacterOf(value.substr(at + 1, end - at - 1));
    if (character.empty()) return Fault("a reference to nothing");
    resolved += StrCat(value.substr(0, at), character);
    value.remove_prefix(end + 1);
  }
  resolved += value;
  if (!IsUtf8(resolved)) return Fault("text that is no UTF-8");
  return resolved;
}

// Outside of the root there are blanks only.
Result<void> XmlReader::SkipText() {
  const std::string_view text = text_.substr(0, text_.find('<'));
  if (open_.empty() && text.find_first_not_of(kXmlBlank) != std::string_view::npos)
    return Fault("text outside of the root element");
  GAPLESS_TRY(Resolve(text));
  text_.remove_prefix(text.size());
  return {};
}

// Comments, processing instructions and CDATA. Returns false if the markup is an element's.
Result<bool> XmlReader::SkipMarkup() {
  if (text_.starts_with("<!--")) {
    GAPLESS_TRY(SkipPast(4, "-->", "a comment"));
  } else if (text_.starts_with("<![CDATA[") && !open_.empty()) {
    GAPLESS_TRY(SkipPast(9, "]]>", "a CDATA section"));
  } else if (text_.starts_with("<?")) {
    const std::string_view declaration = text_.substr(0, text_.find("?>"));
    const size_t encoding = declaration.starts_with("<?xml ") ? declaration.find("encoding=") : std::string_view::npos;
    if (encoding != std::string_view::npos) {
      std::string_view name = declaration.substr(encoding + 9);
      name.remove_prefix(std::min<size_t>(1, name.size()));
      const auto is = [&](std::string_view known) {
        return name.size() >= known.size() && std::ranges::equal(name.substr(0, known.size()), known, {}, [](char c) {
                 return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
               });
      };
      if (!is("utf-8") && !is("us-ascii")) return Fault("an encoding that is not UTF-8");
    }
    GAPLESS_TRY(SkipPast(2, "?>", "an instruction"));
  } else if (text_.starts_with("<!")) {
    return Fault("a document type, which is not read,");
  } else {
    return false;
  }
  return true;
}

Result<void> XmlReader::ReadAttribute() {
  const std::string_view name = TakeName();
  TakeBlank();
  if (name.empty() || !text_.starts_with('=')) return Fault("an attribute without a value");
  text_.remove_prefix(1);
  TakeBlank();
  if (text_.empty() || (text_[0] != '"' && text_[0] != '\'')) return Fault("a value without quotes");
  const size_t end = text_.find(text_[0], 1);
  if (end == std::string_view::npos) {
    text_ = {};
    return Fault("a value that does not end");
  }
  const std::string_view value = text_.substr(1, end - 1);
  if (value.find('<') != std::string_view::npos) return Fault("a < in a value");
  GAPLESS_ASSIGN(auto resolved, Resolve(value));
  if (Attribute(name)) return Fault("an attribute that is there twice");
  if (attributes_.size() == kMostAttributes) return Fault("an element with more than 1000 attributes");
  attributes_.emplace_back(name, std::move(resolved));
  text_.remove_prefix(end + 1);
  return {};
}

Result<XmlReader::Event> XmlReader::ReadOpen() {
  if (open_.empty() && had_root_) return Fault("a second root element");
  text_.remove_prefix(1);
  name_ = TakeName();
  if (name_.empty()) return Fault("a < that begins no element");
  attributes_.clear();
  while (true) {
    const bool has_blank = !text_.empty() && kXmlBlank.find(text_[0]) != std::string_view::npos;
    TakeBlank();
    if (text_.starts_with('>') || text_.starts_with("/>")) break;
    if (text_.empty() || !has_blank) return Fault("an element whose tag does not end");
    GAPLESS_TRY(ReadAttribute());
  }
  closes_ = text_[0] == '/';
  text_.remove_prefix(closes_ ? 2 : 1);
  if (open_.size() == kMostDeep) return Fault("elements that are more than 64 deep");
  open_.push_back(name_);
  had_root_ = true;
  return Event::kOpen;
}

Result<XmlReader::Event> XmlReader::ReadClose() {
  text_.remove_prefix(2);
  name_ = TakeName();
  TakeBlank();
  if (open_.empty() || name_ != open_.back() || !text_.starts_with('>')) return Fault("an end tag that ends nothing");
  text_.remove_prefix(1);
  open_.pop_back();
  return Event::kClose;
}

Result<XmlReader::Event> XmlReader::Next() {
  if (closes_) {
    closes_ = false;
    name_ = open_.back();
    open_.pop_back();
    return Event::kClose;
  }
  while (true) {
    GAPLESS_TRY(SkipText());
    if (text_.empty()) break;
    GAPLESS_ASSIGN(const auto skipped, SkipMarkup());
    if (!skipped) return text_.starts_with("</") ? ReadClose() : ReadOpen();
  }
  if (!open_.empty()) return Fault(StrCat("the element ", open_.back(), ", which does not end,"));
  if (!had_root_) return Fault("no element");
  return Event::kEnd;
}

std::optional<std::string> XmlReader::Attribute(std::string_view name) const {
  for (const auto& [known, value] : attributes_)
    if (known == name) return value;
  return std::nullopt;
}

}  // namespace gapless::internal
