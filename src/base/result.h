// SPDX-License-Identifier: Apache-2.0
// Helpers with which the inside makes and passes on errors. Result, Error and ErrorCode themselves are public:
// gapless/result.h.
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

// Returns the failure to the caller, or goes on. `expr` is evaluated once, and may be a variable that is used on. The
// value of a call is destroyed here: what lives by its scope is assigned.
#define GAPLESS_TRY(expr)                                             \
  do {                                                                \
    if (const auto& gapless_try_result = (expr); !gapless_try_result) \
      return ::gapless::Unexpected{gapless_try_result.error()};       \
  } while (false)

#define GAPLESS_JOIN_(a, b) a##b
#define GAPLESS_JOIN(a, b) GAPLESS_JOIN_(a, b)
#define GAPLESS_ASSIGN_(result, target, ...)                            \
  auto result = (__VA_ARGS__);                                          \
  if (!result) return ::gapless::Unexpected{std::move(result.error())}; \
  target = *std::move(result)

// Returns the failure to the caller, or assigns the value to `target`, which may declare a variable:
// `GAPLESS_ASSIGN(const auto run, LoadRun(paths));`. It is several statements, so it needs braces below an `if`.
#define GAPLESS_ASSIGN(target, ...) GAPLESS_ASSIGN_(GAPLESS_JOIN(gapless_result_, __LINE__), target, __VA_ARGS__)

}  // namespace gapless::internal
