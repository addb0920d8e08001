// SPDX-License-Identifier: Apache-2.0
// JSON documents of host profilers: parsed as a whole, their fields taken with a type. What is missing or of another
// type is absent.
#pragma once

#include <simdjson.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "ingest/random_access.h"
#include "trace/builder.h"

namespace gapless::internal::profile_json {

namespace dom = simdjson::dom;

// A Document holds its text and its values.
struct Document {
  std::string text{};
  dom::parser parser{};
  dom::element root{};
};

// `what` names the profile in the error: "profile of Scalene".
inline Result<void> Parse(Source& source, std::string_view what, std::string_view hint, Document& document) {
  GAPLESS_ASSIGN(document.text, ReadAll(source));
  if (document.parser.parse(document.text).get(document.root) == simdjson::SUCCESS) return {};
  return Fail(ErrorCode::kInput, StrCat("the ", what, " is no valid JSON: it was cut off or damaged"), source.path(),
              std::string(hint));
}

inline std::string_view TextAt(const dom::element& element, std::string_view key) {
  std::string_view text;
  return element[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}
inline int64_t IntAt(const dom::element& element, std::string_view key) {
  int64_t value = 0;
  return element[key].get(value) == simdjson::SUCCESS ? value : kAbsent;
}
// NaN: missing, or no number.
inline double RealAt(const dom::element& element, std::string_view key) {
  double value = 0;
  return element[key].get(value) == simdjson::SUCCESS ? value : kNan;
}
// The items of an array; none: it is missing, or no array. An array that is not there must not be walked.
inline std::vector<dom::element> ArrayAt(const dom::element& element, std::string_view key) {
  dom::array array;
  std::vector<dom::element> items;
  if (element[key].get(array) == simdjson::SUCCESS)
    for (const dom::element item : array) items.push_back(item);
  return items;
}

// Nanoseconds of seconds; absent where they are no sensible time.
inline int64_t NsOf(double seconds) {
  constexpr double kMaxSeconds = 1e9;
  return seconds >= 0 && seconds < kMaxSeconds ? std::llround(seconds * 1e9) : kAbsent;
}
// The same of a moment since 1970.
inline int64_t UnixNsOf(double seconds) {
  constexpr double kMaxSeconds = 9e9;
  return seconds >= 0 && seconds < kMaxSeconds ? std::llround(seconds * 1e6) * 1000 : kAbsent;
}

}  // namespace gapless::internal::profile_json
