// SPDX-License-Identifier: Apache-2.0
// Escapes Markdown. Besides what marks up anywhere, an underscore is escaped only at the edge of a word: inside of one
// it is no emphasis, and names like step_time_ms stay readable in the source.
#include "report/markdown_text.h"

#include <cctype>

#include "base/strings.h"

namespace gapless::internal {

std::string MarkdownEscaped(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*[]<>|~&";
  const std::string shown = Printable(text);
  const auto is_word = [&](size_t at) {
    return at < shown.size() && shown[at] != '_' && std::isalnum(static_cast<unsigned char>(shown[at])) != 0;
  };
  std::string out;
  for (size_t i = 0; i < shown.size(); ++i) {
    const bool emphasis = shown[i] == '_' && !(i > 0 && is_word(i - 1) && is_word(i + 1));
    if (emphasis || kMarkup.find(shown[i]) != std::string_view::npos) out += '\\';
    out += shown[i];
  }
  return out;
}

std::string MarkdownCell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace gapless::internal
