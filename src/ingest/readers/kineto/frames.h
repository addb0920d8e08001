// SPDX-License-Identifier: Apache-2.0
// Texts inside events: Python frames, JSON escapes, names that stand where numbers should.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gapless::internal::kineto {

// Returns "file:line" of the innermost frame of the user's code in a recorded call stack, "a.py(3): f;b.py(4): g", or
// of a single place, "a.py:3"; "" if all of it is library code.
std::string UserLine(std::string_view frames);
// Returns "f() (a.py)" for the name of a Python function's event, "a.py(3): f"; "" for library code, and for
// comprehensions and lambdas, which belong to the function around them. The line in the
// name is no place of a call: it is the function's first line, or where the function stood when the recording began.
std::string UserFunction(std::string_view frame);
// Resolves JSON escapes, unless the recorder wrote backslashes as they are (on Windows). Invalid ones are kept.
std::string Unescape(std::string_view text);
// Returns a negative number, at most -2, that stands for a process or thread named by text. Equal texts give equal
// numbers; different texts may share one by chance of 1 in 2^31.
int64_t StandIn(std::string_view text);

}  // namespace gapless::internal::kineto
