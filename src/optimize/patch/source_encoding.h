// SPDX-License-Identifier: Apache-2.0
// Finds out how the bytes of a Python file are to be read, by the rules of PEP 263.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

enum class SourceEncoding : uint8_t {
  kUtf8,
  kSingleByte,  // ASCII, and one character for each byte above
};

// Returns an error for any other encoding, and for bytes that are no UTF-8 where the file does not say what they are.
Result<SourceEncoding> EncodingOf(std::string_view text);

}  // namespace gapless::internal
