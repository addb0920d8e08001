// SPDX-License-Identifier: Apache-2.0
// Text in columns, for a terminal. Widths are of what is shown, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

std::string Padded(std::string_view text, size_t width, bool right);
// A line of heads and one of each row, as many cells each; all but the first column and the one called `left` end where
// they end, as numbers do.
std::string Aligned(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                    std::string_view left);
// Words in lines of at most `width`, those after the first indented.
std::string Wrapped(std::string_view text, size_t indent, int width);

}  // namespace gapless::internal
