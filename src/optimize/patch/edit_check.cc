// SPDX-License-Identifier: Apache-2.0
// Accepts only texts that cannot break out of the place in Python that they are put into.
#include "optimize/patch/edit_check.h"

#include <algorithm>

#include "base/strings.h"
#include "optimize/patch/imports.h"

namespace gapless::internal {
namespace {

// Returns true if the text has no control characters but tabs.
bool IsOneLine(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; });
}

bool IsAscii(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c >= 0x80; });
}

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsNameByte) && (text[0] < '0' || text[0] > '9');
}

// Returns true if the value is exactly one expression that may stand behind `key=`: within it, the grammar would also
// take `a as b`, and at its beginning `*a` and `a := b`.
bool IsExpression(const std::string& value) {
  constexpr std::string_view kBefore = "f(a=";
  const auto source = PythonSource::Parse(StrCat(kBefore, value, ")"));
  if (!source || source->statements().size() != 1) return false;
  PythonNode node = source->statements()[0];
  for (const std::string_view kind : {"expression_statement", "call", "argument_list", "keyword_argument"}) {
    const auto children = node.Children();
    if (node.kind() != kind || children.empty()) return false;
    if ((kind == "expression_statement" || kind == "argument_list") && children.size() != 1) return false;
    node = children.back();
  }
  bool plain = node.begin() == kBefore.size() && node.end() == kBefore.size() + value.size() &&
               node.kind() != "named_expression" && node.kind() != "list_splat";
  source->tree().Walk([&](const PythonNode& inner) { return plain = plain && inner.kind() != "as_pattern"; });
  return plain;
}

// Returns true if the lines are statements, with `pass` below them where they are heads of blocks.
bool AreStatements(const std::vector<std::string>& lines, bool heads) {
  std::string text, indent;
  for (const std::string& line : lines) {
    text += StrCat(indent, line, "\n");
    if (heads) indent += "    ";
  }
  const auto source = PythonSource::Parse(heads ? StrCat(text, indent, "pass\n") : text);
  return source && !source->lines().empty();
}

Result<void> CheckSyntax(const Edit& edit) {
  for (const std::string& import : edit.imports)
    if (BindingsOf(import).empty()) return Fail(ErrorCode::kInput, StrCat("'", Printable(import), "' is no import"));
  for (const auto& [key, value] : edit.set)
    if (!IsExpression(value))
      return Fail(ErrorCode::kInput, StrCat("the value of ", key, ", '", Printable(value), "', is no expression"));
  if (edit.lines.empty()) return {};
  const bool around = edit.kind == EditKind::kWith;
  if (around && (edit.lines.size() != 1 || !edit.lines[0].starts_with("with ") || !edit.lines[0].ends_with(':')))
    return Fail(ErrorCode::kInput, "the edit has no head of a with block");
  if (!AreStatements(edit.lines, around)) return Fail(ErrorCode::kInput, "the edit's lines are no statements");
  return {};
}

}  // namespace

Result<void> CheckTexts(const Edit& edit, const PythonSource& source) {
  std::vector<std::string> texts = edit.lines;
  texts.insert(texts.end(), edit.imports.begin(), edit.imports.end());
  for (const auto& pair : edit.set) texts.push_back(pair.second);
  const bool named = std::ranges::all_of(
      edit.set, [](const auto& pair) { return IsName(pair.first) && IsAscii(pair.first) && !pair.second.empty(); });
  if (!named || !std::ranges::all_of(texts, IsOneLine))
    return Fail(ErrorCode::kInput, "the edit holds what no line of Python does");
  if (!source.is_utf8() && !std::ranges::all_of(texts, IsAscii))
    return Fail(ErrorCode::kInput, "the file is no UTF-8, and the edit holds characters beyond ASCII");
  return CheckSyntax(edit);
}

}  // namespace gapless::internal
