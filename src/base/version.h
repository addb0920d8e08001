// SPDX-License-Identifier: Apache-2.0
// What this program is, in numbers that its output carries.
#pragma once

#include <string_view>

namespace gapless::internal {

inline constexpr std::string_view kVersion = GAPLESS_VERSION;
// Of every JSON document the program prints. Raised when a key changes its meaning or goes; new keys leave it alone.
inline constexpr int kJsonSchema = 1;

}  // namespace gapless::internal
