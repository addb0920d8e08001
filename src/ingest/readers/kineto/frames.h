// SPDX-License-Identifier: Apache-2.0
// Texts inside events: Python frames, JSON escapes, names that stand where numbers should.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gapless::internal::kineto {

// "file:line" of the innermost frame of the user's code: of "a.py(3): f;b.py(4): g" or of one frame; "" when all are
// library code.
std::string UserLine(std::string_view frames);
// Resolves JSON escapes. Invalid ones are kept as they are.
std::string Unescape(std::string_view text);
// A negative number that stands for a process or thread named by text.
int64_t StandIn(std::string_view text);

}  // namespace gapless::internal::kineto
