// SPDX-License-Identifier: Apache-2.0
// Reading the small files of /proc and /sys: whole, at once, and number by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/files.h"

namespace gapless::internal {

// The file's content, at most 1 MiB; nullopt when it cannot be read.
std::optional<std::string> ReadSmallFile(const std::string& path);
// The same without blanks at the end; "" when it cannot be read.
std::string ReadLineOf(const std::string& path);

// Returns the whole text (without blanks around it) as a number; nullopt if it is no number.
std::optional<int64_t> ToInt(std::string_view text);
std::optional<double> ToReal(std::string_view text);

// The words of a line, split at blanks.
std::vector<std::string_view> Words(std::string_view line);
// The lines of a text, without their ends.
std::vector<std::string_view> Lines(std::string_view text);

// Returns the number after `key` in lines of "key value" or "key: value unit"; nullopt if no line begins with the
// whole key, or no number follows.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key);

// The names that are numbers (processes, threads), ascending.
std::vector<int64_t> NumbersIn(const std::string& folder);

}  // namespace gapless::internal
