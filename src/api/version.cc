// SPDX-License-Identifier: Apache-2.0
// The version as a function: it is compiled into the library, while the macros of the header are compiled into the
// caller.
#include "gapless/version.h"

#include "base/version.h"

namespace gapless {

std::string_view Version() { return internal::kVersion; }

}  // namespace gapless
