// SPDX-License-Identifier: Apache-2.0
// Words and numbers of a line of text.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace gapless::internal::nccl_log {

// The parts between white space.
inline std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; (at = text.find_first_not_of(" \t\r", at)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(" \t\r", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// The number that the whole of `text` is.
template <class T>
std::optional<T> NumberOf(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The text behind `key` up to one of `ends`; "" if the key is missing.
inline std::string_view Behind(std::string_view text, std::string_view key, std::string_view ends = " ,") {
  const size_t at = text.find(key);
  if (at == text.npos) return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, std::min(text.find_first_of(ends), text.size()));
}

inline std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace gapless::internal::nccl_log
