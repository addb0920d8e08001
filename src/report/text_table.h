// SPDX-License-Identifier: Apache-2.0
// Text in columns, for a terminal. Widths are those of the displayed text in columns, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// Pads to `width` columns; `right`: the text ends there. A wider text stays as it is.
std::string Padded(std::string_view text, size_t width, bool right);
// Returns a line of heads and one of each row, as many cells each. Right-aligns all columns but the first and the one
// called `left`.
std::string Aligned(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                    std::string_view left);
// Breaks a text into lines of at most `width` columns; those after the first are indented. The first line is to be put
// after `indent` columns of other text.
std::string Wrapped(std::string_view text, size_t indent, int width);

}  // namespace gapless::internal
