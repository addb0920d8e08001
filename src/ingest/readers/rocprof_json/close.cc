// SPDX-License-Identifier: Apache-2.0
// One pass over the text, with a stack of open brackets. The best place is behind the last object that ended inside
// of a list: records are such objects.
#include "ingest/readers/rocprof_json/close.h"

namespace gapless::internal::rocm {
namespace {

constexpr size_t kDeepest = 1000;

// The end of the text "…" that begins at `at`: the place of its last quote, or the size of the text.
size_t EndOfText(const std::string& text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at;
}

}  // namespace

bool CloseJson(std::string& text) {
  std::string open, open_there;
  size_t there = 0;
  for (size_t at = 0; at < text.size() && open.size() < kDeepest; ++at) {
    const char c = text[at];
    if (c == '"') at = EndOfText(text, at);
    if (c == '{' || c == '[') open += c;
    if (c != '}' && c != ']') continue;
    if (open.empty() || open.back() != (c == '}' ? '{' : '[')) break;
    open.pop_back();
    if (c == '}' && !open.empty() && open.back() == '[') there = at + 1, open_there = open;
  }
  if (there == 0) return false;
  text.resize(there);
  for (size_t i = open_there.size(); i-- > 0;) text += open_there[i] == '{' ? '}' : ']';
  return true;
}

}  // namespace gapless::internal::rocm
