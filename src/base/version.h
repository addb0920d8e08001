// SPDX-License-Identifier: Apache-2.0
// The versions of this program and of its JSON, and what is said of a file of another one (docs/versions.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

inline constexpr std::string_view kVersion = GAPLESS_VERSION;
// The schema version of every JSON document that the program prints. It is raised when a key changes its meaning or
// goes; new keys leave it alone.
inline constexpr int kJsonSchema = 1;

// Returns the error for a file, line or database that this program cannot read because of its version. `what` begins
// the sentence: "the recipe".
Unexpected FromAnotherVersion(std::string_view what, int64_t version, int64_t newest_known, std::string place = {},
                              ErrorCode code = ErrorCode::kInput);

}  // namespace gapless::internal
