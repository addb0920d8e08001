// SPDX-License-Identifier: Apache-2.0
// Finds the table of ncu in a file: behind the output of the program and ncu's own `==PROF==` lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::ncu {

// Returns the text as UTF-8 without a byte order mark: a shell on Windows writes what a program prints as UTF-16.
std::string ToUtf8(std::string text);

// Returns true if the fields are the head of a table of ncu: kernel names beside metrics.
bool IsHead(const std::vector<std::string>& fields);

// Returns the beginning of the line of the head, or npos.
size_t FindTable(std::string_view text);

// Returns the first error that ncu printed, without its `==ERROR==`; empty: it printed none.
std::string FirstError(std::string_view text);
// Returns true if a line of ncu's own output begins the text or one of its lines.
bool HasOwnLine(std::string_view text);

// Joins fields that a comma in brackets took apart: some tools print "(256, 1, 1)" without quotes.
void JoinBrackets(std::vector<std::string>& fields, size_t wanted);

}  // namespace gapless::internal::ncu
