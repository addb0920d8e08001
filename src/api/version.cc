// SPDX-License-Identifier: Apache-2.0
#include "gapless/version.h"

#include "base/version.h"

namespace gapless {

std::string_view Version() { return internal::kVersion; }

}  // namespace gapless
