// SPDX-License-Identifier: Apache-2.0
// Joining and formatting text for people: times, bytes, shares. Locale-independent.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// Times in the unit a reader expects: "412 ns", "17.3 µs", "176.5 ms", "12.04 s", "1 h 02 min". Always 3–4 significant
// digits.
std::string FormatDuration(int64_t ns);
// Always milliseconds with one to three decimals, for columns that must line up: "176.5 ms".
std::string FormatMs(int64_t ns);
// "56.2 %"; one decimal, two below 1 %.
std::string FormatPercent(double share);
// Decimal units: "1.02 GB".
std::string FormatBytes(int64_t bytes);
// Thousands separated: "75,718".
std::string FormatCount(int64_t count);
// Returns a number with its noun: "1 copy", "1,204 copies"; `many` is the plural, empty if it is the singular with
// an s.
std::string FormatCounted(int64_t count, std::string_view singular, std::string_view many = {});
// A mean number of times as people say it: "once", "48 times", "2.5 times", "1,204 times".
std::string FormatTimes(double times);
// Fixed decimals: FormatNumber(1.2345, 2) == "1.23".
std::string FormatNumber(double value, int decimals);
// Significant digits: FormatDigits(0.012345, 3) == "0.0123".
std::string FormatDigits(double value, int digits);

// Returns the parts between separators, empty ones too: one part more than separators. They point into `text`.
std::vector<std::string_view> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
inline char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }  // ASCII
bool ContainsIgnoreCase(std::string_view text, std::string_view part);                             // ASCII
bool EqualsIgnoreCase(std::string_view a, std::string_view b);                                     // ASCII
// Length of the valid UTF-8 sequence at the start of `text` (RFC 3629: no overlong forms, no surrogates), which is not
// empty; 0 if there is no such sequence.
size_t Utf8SequenceLength(std::string_view text);
// Terminal columns a UTF-8 text takes (East Asian wide characters count two, combining ones none).
int DisplayWidth(std::string_view utf8);
// Cuts to at most `width` columns, ending in "…" when something was cut.
std::string Ellipsize(std::string_view utf8, int width);
// Breaks a text at its spaces into lines of at most `width` columns. A wider word stands alone and is not cut. An empty
// text has no lines.
std::vector<std::string> WrapWords(std::string_view utf8, int width);
// The text without control characters and invalid UTF-8, safe to print to a terminal.
std::string Printable(std::string_view text);
// A word as a shell takes it back, in quotes where it needs them.
std::string ShellWord(std::string_view word);
// The printable text for XML and HTML, between tags and in attributes of either quote.
std::string XmlEscaped(std::string_view text);

namespace strings_internal {
inline void Append(std::string& out, std::string_view part) { out.append(part); }
inline void Append(std::string& out, char part) { out.push_back(part); }
void Append(std::string& out, double part);  // shortest form that reads back equal
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void Append(std::string& out, T part) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, part).ptr;
  out.append(buffer, end);
}
}  // namespace strings_internal

// StrCat("step ", 3, " of ", name): texts, characters and numbers, joined.
template <class... Parts>
std::string StrCat(const Parts&... parts) {
  std::string out;
  (strings_internal::Append(out, parts), ...);
  return out;
}

}  // namespace gapless::internal
