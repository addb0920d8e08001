// SPDX-License-Identifier: Apache-2.0
// Formats a table and wraps text. Widths are counted in displayed columns, not bytes. Lines have no spaces at their
// ends.
#include "report/text_table.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {

std::string Padded(std::string_view text, size_t width, bool right) {
  const auto shown = static_cast<size_t>(DisplayWidth(text));
  const std::string space(width > shown ? width - shown : 0, ' ');
  return right ? StrCat(space, text) : StrCat(text, space);
}

// The head is as wide as its column, and columns are two spaces apart.
std::string Aligned(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                    std::string_view left) {
  std::vector<size_t> widths;
  for (size_t column = 0; column < head.size(); ++column) {
    auto width = static_cast<size_t>(DisplayWidth(head[column]));
    for (const auto& row : rows) width = std::max(width, static_cast<size_t>(DisplayWidth(row[column])));
    widths.push_back(width);
  }
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line = " ";
    for (size_t column = 0; column < cells.size(); ++column)
      line += StrCat(" ", column == 0 ? "" : " ",
                     Padded(cells[column], widths[column], column > 0 && head[column] != left));
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  };
  add(head);
  for (const auto& row : rows) add(row);
  return text;
}

std::string Wrapped(std::string_view text, size_t indent, int width) {
  return Join(WrapWords(text, width - static_cast<int>(indent)), "\n" + std::string(indent, ' '));
}

}  // namespace gapless::internal
