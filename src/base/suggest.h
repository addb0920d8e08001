// SPDX-License-Identifier: Apache-2.0
// "Did you mean …?": the known name that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string_view>

namespace gapless::internal {

// Letters to insert, delete, change or swap with the next one to turn `a` into `b`, ignoring ASCII case.
int EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `text`, or "" when none is near: at most a third of the letters may differ, or one of them
// starts with the other. The first of equally near ones.
std::string_view Nearest(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace gapless::internal
