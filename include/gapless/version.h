// SPDX-License-Identifier: Apache-2.0
// The version: of these headers as macros, of the library that the program runs with as a function.
#pragma once

#include <string_view>

#include "gapless/export.h"

#define GAPLESS_VERSION_MAJOR 0
#define GAPLESS_VERSION_MINOR 1
#define GAPLESS_VERSION_PATCH 0
#define GAPLESS_VERSION_STRING "0.1.0"

namespace gapless {

// "0.1.0". Differs from GAPLESS_VERSION_STRING when the program was compiled against other headers.
GAPLESS_API std::string_view Version();

}  // namespace gapless
