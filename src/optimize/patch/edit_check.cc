// SPDX-License-Identifier: Apache-2.0
// Accepts only texts that cannot break out of the line of Python that they are put into.
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

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsNameByte) && (text[0] < '0' || text[0] > '9');
}

}  // namespace

Result<void> CheckTexts(const Edit& edit) {
  const bool plain = std::ranges::all_of(edit.lines, IsOneLine) && std::ranges::all_of(edit.imports, IsOneLine) &&
                     std::ranges::all_of(edit.set, [](const auto& pair) {
                       return IsName(pair.first) && !pair.second.empty() && IsOneLine(pair.second);
                     });
  if (!plain) return Fail(ErrorCode::kInput, "the edit holds what no line of Python does");
  for (const std::string& import : edit.imports)
    if (BindingsOf(import).empty()) return Fail(ErrorCode::kInput, StrCat("'", Printable(import), "' is no import"));
  return {};
}

}  // namespace gapless::internal
