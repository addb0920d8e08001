// SPDX-License-Identifier: Apache-2.0
// Renders edits of statements in the line ends and the indentation of their file.
#include "optimize/patch/statement_edit.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kPythonIndent = 4;  // indent of lines that the agent gives

std::vector<PythonNode> StringsIn(const PythonSource& source, const StatementEdit& edit) {
  std::vector<PythonNode> strings;
  source.tree().Walk([&](const PythonNode& node) {
    if (node.end() <= edit.begin || node.begin() >= edit.end) return false;
    if (node.kind() == "string") strings.push_back(node);
    return true;
  });
  return strings;
}

}  // namespace

std::string Render(const PythonSource& source, const std::vector<std::string>& lines, std::string_view indent,
                   size_t place) {
  const std::string end(source.line_end());
  std::string out;
  for (std::string_view line : lines) {
    std::string own;
    for (; line.starts_with(std::string(kPythonIndent, ' ')); line.remove_prefix(kPythonIndent))
      own += source.indent_unit();
    out += line.empty() ? end : StrCat(indent, own, line, end);
  }
  // The file stays without an end of its last line.
  if (place == source.text().size() && !source.ends_with_line_end())
    return StrCat(end, out.substr(0, out.size() - end.size()));
  return out;
}

void AddWithBlock(const PythonSource& source, const StatementEdit& edit, std::vector<Splice>& splices) {
  std::string unit, heads;
  for (const std::string& head : edit.lines) {
    heads += StrCat(edit.indent, unit, head, source.line_end());
    unit += source.indent_unit();
  }
  for (Splice& splice : splices) {
    const bool inside = splice.owner_begin >= edit.begin && splice.owner_end <= edit.end;
    const bool beside =
        splice.owner_begin == edit.begin && splice.owner_end == edit.end && splice.place <= SplicePlace::kBefore;
    if (inside && !beside && splice.place != SplicePlace::kIndentation) Indent(splice, unit);
  }
  splices.push_back({edit.begin, edit.begin, heads, SplicePlace::kBefore, edit.begin, edit.end});
  const std::vector<PythonNode> strings = StringsIn(source, edit);
  size_t string = 0;
  for (int line = source.LineOf(edit.begin); line <= source.LineCount(); ++line) {
    const size_t start = std::max(edit.begin, source.StartOf(line));
    if (start >= edit.end) break;
    const size_t text = source.text().find_first_not_of(" \t", start);
    const bool blank = text == std::string_view::npos || source.text()[text] == '\n' || source.text()[text] == '\r';
    while (string < strings.size() && strings[string].end() <= start) ++string;
    const bool in_string = string < strings.size() && strings[string].begin() < start;
    if (!blank && !in_string) splices.push_back({start, start, unit, SplicePlace::kIndentation, edit.begin, edit.end});
  }
}

}  // namespace gapless::internal
