// SPDX-License-Identifier: Apache-2.0
// Diagnostics for the user, on stderr. The one door to the logging library; libraries return Results instead of
// logging.
#pragma once

#include <string_view>

namespace gapless::internal::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

// Lowest level that is printed; default kWarning, or what GAPLESS_LOG (debug|info|warning|error|off) says.
void SetLevel(Level level);
// Each prints one line, in which secrets are redacted and control characters are removed. Nothing is printed below
// the level.
void Debug(std::string_view text);
void Info(std::string_view text);
void Warning(std::string_view text);
void Error(std::string_view text);

}  // namespace gapless::internal::log
