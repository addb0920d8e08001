// SPDX-License-Identifier: Apache-2.0
// Scans JSON text for the ends of strings and for commas between events. All functions are linear in the bytes
// they look at, and use memchr to find a single character.
#include "ingest/readers/kineto/scan.h"

#include <cstring>

#include "base/portable.h"

namespace gapless::internal::kineto {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Position behind the string whose first character (after the quote) is at `at`; kNotFound when it does not close.
size_t StringEnd(std::string_view text, size_t at) {
  while (at < text.size()) {
    const void* quote = std::memchr(text.data() + at, '"', text.size() - at);
    if (quote == nullptr) return kNotFound;
    const auto found = static_cast<size_t>(static_cast<const char*>(quote) - text.data());
    size_t slashes = 0;
    while (slashes < found && text[found - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return found + 1;
    at = found + 1;
  }
  return kNotFound;
}

// Is the comma at `at` one between two objects of which the second starts with a key?
bool IsEventComma(std::string_view text, size_t at) {
  size_t before = at;
  while (before > 0 && IsSpace(text[before - 1])) --before;
  if (before == 0 || text[before - 1] != '}') return false;
  size_t after = at + 1;
  while (after < text.size() && IsSpace(text[after])) ++after;
  if (after >= text.size() || text[after] != '{') return false;
  ++after;
  while (after < text.size() && IsSpace(text[after])) ++after;
  return after < text.size() && text[after] == '"';
}

}  // namespace

ScannedValue ScanValue(std::string_view text, size_t begin) {
  size_t depth = 0;
  for (size_t at = begin; at < text.size();) {
    const char c = text[at++];
    if (c == '"') {
      at = StringEnd(text, at);
      if (at == kNotFound) break;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxNesting) return {.seen = at - begin, .too_deep = true};
    } else if (c == '}' || c == ']') {
      if (depth == 0) return {.seen = at - begin};
      if (--depth == 0) return {.end = at, .seen = at - begin};
    }
  }
  return {.seen = text.size() - begin};
}

size_t ObjectEnd(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c == '"') {
      at = StringEnd(text, at);
      if (at == kNotFound) break;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      --depth;
    }
  }
  return kNotFound;
}

// Searches braces backwards, which are rarer than commas.
size_t LastEventComma(std::string_view text) {
  for (size_t end = text.size(); end > 0;) {
    end = FindLastByte(text.substr(0, end), '{');
    if (end == text.npos) return kNotFound;
    size_t comma = end;
    while (comma > 0 && IsSpace(text[comma - 1])) --comma;
    if (comma > 0 && text[comma - 1] == ',' && IsEventComma(text, comma - 1)) return comma - 1;
  }
  return kNotFound;
}

size_t FirstEventComma(std::string_view text, size_t from) {
  for (size_t at = from; at < text.size(); ++at) {
    const void* brace = std::memchr(text.data() + at, '{', text.size() - at);
    if (brace == nullptr) return kNotFound;
    at = static_cast<size_t>(static_cast<const char*>(brace) - text.data());
    size_t comma = at;
    while (comma > from && IsSpace(text[comma - 1])) --comma;
    if (comma > from && text[comma - 1] == ',' && IsEventComma(text, comma - 1)) return comma - 1;
  }
  return kNotFound;
}

size_t ArrayScanner::Scan(std::string_view text) {
  last_comma_ = kNotFound;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
      continue;
    }
    switch (c) {
      case '"': in_string_ = true; break;
      case '{':
      case '[': ++depth_; break;
      case '}':
        if (depth_ > 0) --depth_;
        break;
      case ']':
        if (depth_ == 0) {
          ended_ = true;
          return at + 1;
        }
        --depth_;
        break;
      case ',':
        if (depth_ == 0) last_comma_ = at;
        break;
      default: break;
    }
  }
  return text.size();
}

}  // namespace gapless::internal::kineto
