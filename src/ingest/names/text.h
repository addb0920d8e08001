// SPDX-License-Identifier: Apache-2.0
// Texts of names, as the rules on names compare them.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace gapless::internal {

// Returns the text with ASCII letters in lower case; rules compare lower case only, since libraries vary it.
inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

inline bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

template <class Parts>
bool HasAny(std::string_view text, const Parts& parts) {
  return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) { return Has(text, part); });
}

}  // namespace gapless::internal
