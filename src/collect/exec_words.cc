// SPDX-License-Identifier: Apache-2.0
// Makes the words and the environment of a program that is to be started.
#include "collect/exec_words.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/strings.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): only GNU headers have it

namespace gapless::internal {

std::string VariableOf(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? "" : value;
}

std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line = *at;
    const std::string_view name = line.substr(0, line.find('='));
    bool replaced = false;
    for (const auto& [key, value] : set) replaced |= key == name;
    if (!replaced) all.emplace_back(line);
  }
  for (const auto& [key, value] : set) all.push_back(StrCat(key, "=", value));
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace gapless::internal
