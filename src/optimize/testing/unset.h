// SPDX-License-Identifier: Apache-2.0
// An environment in which no variable is set.
#pragma once

namespace gapless::internal::testing {

inline const char* Unset(const char* /*name*/) { return nullptr; }

}  // namespace gapless::internal::testing
