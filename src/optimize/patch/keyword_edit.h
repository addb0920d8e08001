// SPDX-License-Identifier: Apache-2.0
// Keyword arguments of a call: values replaced where they are given, the others added in the style of the call.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "optimize/patch/call_site.h"
#include "optimize/patch/splice.h"

namespace gapless::internal {

using Keywords = std::vector<std::pair<std::string, std::string>>;

// None: the call says all this already. `name` is the callable's own name, whatever it is called there. An error: the
// call takes its arguments in a way that hides which they are.
Result<std::vector<Splice>> SplicesFor(const PythonSource& source, const CallSite& call, std::string_view name,
                                       const Keywords& set);

// Returns true if the edited call has the arguments of the call from before, in their order, and behind them others of
// `set` only, each once and with its value.
bool HasArguments(const PythonSource& edited, const CallSite& call, const CallSite& before, const Keywords& set);

}  // namespace gapless::internal
