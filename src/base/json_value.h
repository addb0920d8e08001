// SPDX-License-Identifier: Apache-2.0
// A JsonValue is a JSON document as a tree of plain values, so that readers of results need not know simdjson.
// Values may be read from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

class JsonValue {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kReal, kText, kArray, kObject };

  // Parses a whole document. Python writes NaN and Infinity, which JSON does not have: they are read as null.
  // Returns an error of the input for anything else that is no JSON, for more than 100 levels, and for a number
  // that no double holds.
  static Result<JsonValue> Parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }
  // A value of another kind is absent. A number in a text ("1.5", as nvbench writes it) is one for NumberIn().
  std::optional<double> Number() const;
  std::optional<int64_t> Int() const;
  std::optional<bool> Bool() const;
  const std::string* Text() const;
  std::optional<double> NumberIn() const;

  // Returns the items of an array or an object, in order; empty for anything else.
  const std::vector<JsonValue>& items() const;
  const std::vector<std::string>& keys() const;
  // Returns the first member of this name; a null value if it is missing, so that Get()s can be chained. Linear in
  // the members.
  const JsonValue& Get(std::string_view key) const;
  // The same; null when there is none.
  const JsonValue* Find(std::string_view key) const;
  // The text of a member; empty when it is no text.
  std::string TextOf(std::string_view key) const;

 private:
  friend class JsonBuilder;
  struct Compound {
    std::string text;
    std::vector<JsonValue> items;
    std::vector<std::string> keys;  // keys of an object, one for each item
  };
  Kind kind_ = Kind::kNull;
  int64_t integer_ = 0;
  double real_ = 0;
  std::shared_ptr<const Compound> compound_;
};

// The value as JSON on one line.
std::string ToJson(const JsonValue& value);

}  // namespace gapless::internal
