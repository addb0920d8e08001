// SPDX-License-Identifier: Apache-2.0
// Files, and folders of them, that are there until they get their final name. Whoever writes one remembers it here, so
// that a program that is ended in the middle of its work can take them along.
#pragma once

#include <string>

namespace gapless::internal {

// From any thread. Paths that were not remembered are no error.
void RememberTemporary(const std::string& path);
void ForgetTemporary(const std::string& path);
// Removes all that are remembered; what is remembered later stays.
void RemoveTemporaries();

}  // namespace gapless::internal
