// SPDX-License-Identifier: Apache-2.0
// Warnings of the program about itself, on stderr. Libraries return Results instead.
#pragma once

#include <string_view>

namespace gapless::internal::log {

// Prints "gapless: warning: <text>" on one line, unless GAPLESS_LOG is `error` or `off`. Texts carry names out of
// recordings and commands of users, so control characters and secrets are taken out. From any thread.
void Warning(std::string_view text);

}  // namespace gapless::internal::log
