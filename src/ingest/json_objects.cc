// SPDX-License-Identifier: Apache-2.0
#include "ingest/json_objects.h"

#include <algorithm>

namespace gapless::internal {
namespace {

// Returns the place behind the text that begins at `at`; npos if it does not end.
size_t BehindText(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.npos;
}

// Returns the place behind the object that begins at the start of the text; npos if it does not end.
size_t BehindObject(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = BehindText(text, at);
      if (at == text.npos) return text.npos;
      continue;
    }
    ++at;
    depth += c == '{' ? 1 : 0;
    if (c == '}' && --depth == 0) return at;
  }
  return text.npos;
}

}  // namespace

std::string_view JsonObjects::Next() {
  const size_t begin = text_.find('{');
  if (begin == text_.npos) return text_ = {};
  text_.remove_prefix(begin);
  size_t end = BehindObject(text_);
  if (end == text_.npos) {
    // A line that was cut off in the middle of a file: the next line begins with an object again.
    const size_t next = text_.find("\n{");
    cut_ = true;
    text_.remove_prefix(std::min(next, text_.size()));
    return text_.empty() ? text_ : Next();
  }
  const std::string_view object = text_.substr(0, end);
  text_.remove_prefix(end);
  return object;
}

}  // namespace gapless::internal
