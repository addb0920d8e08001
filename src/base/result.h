// SPDX-License-Identifier: Apache-2.0
// How the inside makes and passes on errors. Result, Error and ErrorCode themselves are public: gapless/result.h.
//
// No exception crosses a room; every function that can fail on input returns a Result.
#pragma once

#include <string>
#include <utility>

#include "gapless/result.h"

namespace gapless::internal {

// Each code has one exit status that scripts rely on: usage 2, input 3, environment 4, command 5, interrupted 130.
int ExitStatus(ErrorCode code);

// Makes an error to return: what failed, where (a file, an option, a path in a document), and what to do.
inline Unexpected Fail(ErrorCode code, std::string message, std::string place = {}, std::string hint = {}) {
  return {{code, std::move(message), std::move(place), std::move(hint)}};
}

// Returns the failure to the caller, or goes on. `expr` is evaluated once.
#define GAPLESS_TRY(expr)                                       \
  do {                                                          \
    if (auto gapless_try_result = (expr); !gapless_try_result)  \
      return ::gapless::Unexpected{gapless_try_result.error()}; \
  } while (false)

}  // namespace gapless::internal
