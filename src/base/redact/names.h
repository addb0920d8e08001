// SPDX-License-Identifier: Apache-2.0
// Judges from a name whether its value is a secret, and from a value whether it can be one.
#pragma once

#include <cstdint>
#include <string_view>

namespace gapless::internal {

enum class NameKind : uint8_t {
  kPlain,
  kOpaque,  // "--key", "text_key": a secret where the value looks like one
  kToken,   // "--token", "hf_token", "--auth": a secret unless the value says otherwise
  kSecret,  // "password", "api_key"
};
// Returns how much a name says about its value. A name of several words is judged by the last ones.
NameKind KindOf(std::string_view name);

enum class ValueContext : uint8_t {
  kOption,  // option of a command line, or a variable
  kText,    // text of prose and logs, such as "next token: the"
};
// Returns true if this value of this name is a secret. Numbers, paths, references to variables and words such as
// "none" are no secrets of any name of tokens.
bool IsSecretValue(NameKind kind, std::string_view name, std::string_view value, ValueContext context);

}  // namespace gapless::internal
