// SPDX-License-Identifier: Apache-2.0
// Text in Markdown, for every document that is written in it.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal {

// Returns the text with its markup escaped, so that a name in a recording or a file cannot put markup into a document.
std::string MarkdownEscaped(std::string_view text);

// Returns the text for a cell of a table, of which only a bar is escaped: what else marks up does so.
std::string MarkdownCell(std::string_view text);

}  // namespace gapless::internal
