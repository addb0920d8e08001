// SPDX-License-Identifier: Apache-2.0
// The text of a script before it is parsed: how its bytes are to be read, and whether it has the shape of a script.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

// The parser takes time that grows with the square of comments in a row, and keeps the indentation in a fixed buffer.
// Returns an error unless both stay far below what could do harm.
Result<void> CheckShape(std::string_view text);

enum class SourceEncoding : uint8_t {
  kUtf8,
  kSingleByte,  // ASCII, and one character for each byte above
};

// Returns the encoding of a Python file by the rules of PEP 263. Returns an error for any other encoding, and for bytes
// that are no UTF-8 where the file does not say what they are.
Result<SourceEncoding> EncodingOf(std::string_view text);

}  // namespace gapless::internal
