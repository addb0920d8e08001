// SPDX-License-Identifier: Apache-2.0
// Finds secrets by their form, in any text.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace gapless::internal {

// Stretches [begin, end) of the text, in any order: keys of known services, tokens of the web, private keys, passwords
// in addresses.
std::vector<std::pair<size_t, size_t>> SecretShapes(std::string_view text);

}  // namespace gapless::internal
