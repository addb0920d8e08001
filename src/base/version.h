// SPDX-License-Identifier: Apache-2.0
// The versions of this program and of its JSON.
#pragma once

#include <string_view>

namespace gapless::internal {

inline constexpr std::string_view kVersion = GAPLESS_VERSION;
// The schema version of every JSON document that the program prints. It is raised when a key changes its meaning or
// goes; new keys leave it alone.
inline constexpr int kJsonSchema = 1;

}  // namespace gapless::internal
