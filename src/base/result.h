// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says what went wrong, where, and what to do next.
//
// Members are named as in std::expected (missing from C++20), so the type can be swapped for it later.
// No exception crosses a room; every function that can fail on input returns a Result.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace gapless::internal {

// Each code has one exit status that scripts rely on: usage 2, input 3, environment 4, command 5.
enum class ErrorCode : uint8_t { kUsage, kInput, kEnvironment, kCommand, kInterrupted };

struct Error {
  ErrorCode code = ErrorCode::kInput;
  std::string message;  // one sentence, no trailing period, names the thing that is wrong
  std::string place;    // file, "file:byte 123" or "file:row 7"; may be empty
  std::string hint;     // what the user can do; may be empty

  // "place: message (hint)", for logs and tests.
  std::string ToString() const;
};

int ExitStatus(ErrorCode code);

// Wraps an Error on its way into a Result, as std::unexpected does.
struct Unexpected {
  Error error;
};

inline Unexpected Fail(ErrorCode code, std::string message, std::string place = {}, std::string hint = {}) {
  return {{code, std::move(message), std::move(place), std::move(hint)}};
}

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}                     // NOLINT(*-explicit-*)
  Result(Unexpected failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}  // NOLINT(*-explicit-*)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return *std::get_if<1>(&state_); }
  Error& error() { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Unexpected failure) : error_(std::move(failure.error)), ok_(false) {}  // NOLINT(*-explicit-*)

  bool has_value() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }
  Error& error() { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

// Returns the failure to the caller, or goes on. `expr` is evaluated once.
#define GAPLESS_TRY(expr)                                                 \
  do {                                                                    \
    if (auto gapless_try_result = (expr); !gapless_try_result)            \
      return ::gapless::internal::Unexpected{gapless_try_result.error()}; \
  } while (false)

}  // namespace gapless::internal
