// SPDX-License-Identifier: Apache-2.0
// A cache of the texts of one trace, so that each is examined once and not at every event that carries it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/json_check.h"
#include "trace/string_pool.h"

namespace gapless::internal::chrome {

class TextCache {
 public:
  explicit TextCache(const StringPool& pool) : pool_(pool), known_(pool.size()) {}

  // Appends the text as a JSON string.
  void AppendString(std::string& out, StringId id);
  // Appends a text that is valid JSON as it is, and any other text as a string.
  void AppendJson(std::string& out, StringId id);

 private:
  enum Known : uint8_t { kPlain = 1, kEscape = 2, kJson = 4, kNoJson = 8 };

  const StringPool& pool_;
  std::vector<uint8_t> known_;
  JsonCheck check_;
};

// May the text stand between quotes as it is: printable ASCII without quotes and backslashes?
bool IsPlain(std::string_view text);

}  // namespace gapless::internal::chrome
