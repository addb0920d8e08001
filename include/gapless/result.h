// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says what went wrong, where, and what to do next.
//
// Members are named as in std::expected (missing from C++20), so the type can be swapped for it later. Asking a Result
// for the value it does not have, or for the error of one that has a value, is a fault of the caller.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "gapless/export.h"

namespace gapless {

// The kind of an error. The program `gapless` maps each kind to one exit status.
enum class ErrorCode : uint8_t {
  kUsage,        // a question that cannot be asked: an unknown name, a fault in a statement
  kInput,        // a file that cannot be read or holds nothing of use
  kEnvironment,  // the machine lacks something
  kCommand,      // a command that was run failed
  kInterrupted   // it was asked to stop
};

// A failure as a value: what went wrong, where, and what to do about it.
struct Error {
  ErrorCode code = ErrorCode::kInput;
  std::string message;  // one sentence, no trailing period, names the thing that is wrong
  std::string place;    // file, "file:byte 123" or "file:row 7"; may be empty
  std::string hint;     // what the user can do; may be empty

  // "place: message (hint)", for logs and tests. The texts may come from a recording: escape them where that matters.
  GAPLESS_API std::string ToString() const;
};

// Wraps an Error on its way into a Result, as std::unexpected does.
struct Unexpected {
  Error error;
};

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
  // Returns the value of a temporary Result by value, so that `for (… : *run.Table(name))` is safe.
  T value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*std::get_if<0>(&state_)); }
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

}  // namespace gapless
