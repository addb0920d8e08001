// SPDX-License-Identifier: Apache-2.0
// The door to libyaml: recipes as YAML, and where in a file a key stands.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

struct YamlDocument {
  std::string json{};  // the same values; every scalar but null is a text
  std::map<std::string, size_t>
      lines{};  // by key, such as "fixes[0].item": its line, from 1; the four outermost levels
};

// One document of mappings, sequences and scalars. Anchors, tags and keys that stand twice are errors, and so are, with
// the code kUsage, more than 50 levels, 100,000 values, and keys of more than 256 bytes; `place` of an error is the
// line. JSON is YAML.
Result<YamlDocument> ParseYaml(std::string_view text);

// A text as YAML takes it back, in quotes.
std::string YamlQuoted(std::string_view text);

}  // namespace gapless::internal
