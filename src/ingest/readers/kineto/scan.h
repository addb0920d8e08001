// SPDX-License-Identifier: Apache-2.0
// Finding events in JSON text without parsing it: string- and bracket-aware scanning, and the guess where an event
// starts.
#pragma once

#include <cstddef>
#include <string_view>

namespace gapless::internal::kineto {

inline constexpr size_t kNotFound = static_cast<size_t>(-1);

// Levels of objects and arrays in each other: recorders nest four or five.
inline constexpr size_t kMaxNesting = 64;

struct ScannedValue {
  size_t end = kNotFound;  // position behind it; kNotFound: it does not close, or is nested too deep
  size_t seen = 0;         // bytes looked at
  bool too_deep = false;   // nested in more than kMaxNesting levels
};
// The object or array that opens at text[at].
ScannedValue ScanValue(std::string_view text, size_t at);

// Returns the length of `text`, which begins within an object, up to and with the brace that closes the object;
// kNotFound if it does not close.
size_t ObjectEnd(std::string_view text);

// Returns a guess: the last (first) comma in text that stands between two events, "}" "," "{" "\"" with only white
// space between, at or after `from`; else kNotFound. It is right unless an argument holds such text;
// callers check the result.
size_t LastEventComma(std::string_view text);
size_t FirstEventComma(std::string_view text, size_t from);

// Walks a sequence of values "v, v, v" that may end the array they are in: exact, one byte at a time.
class ArrayScanner {
 public:
  // Scans on over `text`, which follows what was scanned before. Stops behind the end of the array.
  // Returns the bytes consumed: all, or up to and including the closing bracket.
  size_t Scan(std::string_view text);
  bool ended() const { return ended_; }
  // Position in the last scanned text of the last comma between values of the array; kNotFound: none.
  size_t last_comma() const { return last_comma_; }
  // Returns true if the scanned text ends outside of every value and string.
  bool balanced() const { return depth_ == 0 && !in_string_; }

 private:
  size_t depth_ = 0;
  bool in_string_ = false, escaped_ = false, ended_ = false;
  size_t last_comma_ = kNotFound;
};

}  // namespace gapless::internal::kineto
