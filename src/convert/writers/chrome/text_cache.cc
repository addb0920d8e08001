// SPDX-License-Identifier: Apache-2.0
// Implements the cache: two bits per text for "plain or to be escaped", two for "JSON or not", found out at first
// use.
#include "convert/writers/chrome/text_cache.h"

#include <algorithm>

#include "base/json_writer.h"

namespace gapless::internal::chrome {

// Returns true if the text can be written between quotes as it is.
bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void TextCache::AppendString(std::string& out, StringId id) {
  const std::string_view text = pool_[id];
  uint8_t& known = known_[static_cast<uint32_t>(id)];
  if ((known & (kPlain | kEscape)) == 0) known |= IsPlain(text) ? kPlain : kEscape;
  if ((known & kEscape) != 0) return AppendJsonString(out, text);
  out += '"';
  out += text;
  out += '"';
}

void TextCache::AppendJson(std::string& out, StringId id) {
  const std::string_view text = pool_[id];
  uint8_t& known = known_[static_cast<uint32_t>(id)];
  if ((known & (kJson | kNoJson)) == 0) known |= check_.IsValue(text) ? kJson : kNoJson;
  if ((known & kNoJson) != 0) return AppendString(out, id);
  out += text;
}

}  // namespace gapless::internal::chrome
