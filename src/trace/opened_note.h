// SPDX-License-Identifier: Apache-2.0
// A recording that was opened in place of its summary (flows/drill.h) says so in its table read_stats.
#pragma once

#include <string_view>

namespace gapless::internal {

inline constexpr std::string_view kOpenedNote = "opened";  // kind of the note

}  // namespace gapless::internal
