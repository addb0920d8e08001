// SPDX-License-Identifier: Apache-2.0
// Text as a terminal shows it: columns, cutting, and what must never reach it.
//
// Widths follow Unicode's East Asian Width (wide and fullwidth take two columns) with the combining and invisible
// characters at none; both tables hold the ranges that kernel names, file names and module names really use, not every
// rare script. Locale functions (wcwidth) are not used: they depend on a setting the program does not control.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr char32_t kInvalid = 0xFFFFFFFF;

struct Range {
  char32_t first, last;
};

constexpr std::array<Range, 21> kNoColumn = {{
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD},   {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},   {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E},
    {0x2060, 0x2069}, {0x20D0, 0x20FF},   {0x302A, 0x302D},   {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0xE0001, 0xE007F}, {0xE0100, 0xE01EF},
}};

constexpr std::array<Range, 39> kTwoColumns = {{
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC}, {0x23F0, 0x23F0}, {0x23F3, 0x23F3},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F}, {0x2693, 0x2693}, {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26D4, 0x26D4}, {0x26F5, 0x26F5}, {0x2705, 0x2705},
    {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E}, {0x2753, 0x2755}, {0x2757, 0x2757},
    {0x2795, 0x2797},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE6F},   {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6}, {0x17000, 0x1B2FF},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1FAFF}, {0x20000, 0x3FFFD},
}};

template <size_t n>
bool In(const std::array<Range, n>& ranges, char32_t c) {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &Range::first);
  return after != ranges.begin() && c <= std::prev(after)->last;
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }
// Returns true for characters that change the direction of text, with which a name could disguise itself in a
// terminal.
bool TurnsText(char32_t c) { return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

int ColumnsOf(char32_t c) {
  if (c == kInvalid) return 1;
  if (IsControl(c) || In(kNoColumn, c)) return 0;
  return c >= 0x1100 && In(kTwoColumns, c) ? 2 : 1;
}

// Takes one character off the front of `text`. A byte that starts no valid one (overlong forms and surrogates included)
// is taken alone and gives kInvalid.
char32_t Take(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  char32_t c = length <= 1 ? lead : lead & (0x7FU >> length);
  bool valid = length > 0 && length <= text.size();
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0U) == 0x80;
    c = c << 6U | (byte(i) & 0x3FU);
  }
  static constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && c >= kSmallest[length] && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  text.remove_prefix(valid ? length : 1);
  return valid ? c : kInvalid;
}

}  // namespace

int DisplayWidth(std::string_view utf8) {
  int width = 0;
  while (!utf8.empty()) width += ColumnsOf(Take(utf8));
  return width;
}

std::string Ellipsize(std::string_view utf8, int width) {
  if (DisplayWidth(utf8) <= width) return std::string(utf8);
  if (width <= 0) return {};
  std::string_view rest = utf8;
  size_t kept = 0;
  for (int used = 0; !rest.empty(); kept = utf8.size() - rest.size()) {
    used += ColumnsOf(Take(rest));
    if (used > width - 1) break;
  }
  return StrCat(utf8.substr(0, kept), "…");
}

std::vector<std::string> WrapWords(std::string_view utf8, int width) {
  std::vector<std::string> lines;
  for (const std::string_view word : Split(utf8, ' ')) {
    if (word.empty()) continue;
    const bool fits = !lines.empty() && DisplayWidth(lines.back()) + 1 + DisplayWidth(word) <= width;
    if (!fits) lines.emplace_back();
    if (fits) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = Take(text);
    if (c == kInvalid) {
      out.append("\uFFFD");
    } else if (c == '\n' || c == '\t') {
      out.push_back(' ');
    } else if (!IsControl(c) && !TurnsText(c)) {
      out.append(before.substr(0, before.size() - text.size()));
    }
  }
  return out;
}

std::string XmlEscaped(std::string_view text) {
  const std::string printable = Printable(text);
  std::string out;
  out.reserve(printable.size());
  for (std::string_view rest = printable; !rest.empty();) {
    const std::string_view before = rest;
    switch (const char32_t c = Take(rest); c) {
      case '<': out.append("&lt;"); break;
      case '>': out.append("&gt;"); break;
      case '&': out.append("&amp;"); break;
      case '"': out.append("&quot;"); break;
      case '\'': out.append("&#39;"); break;
      case 0xFFFE:  // valid UTF-8, but no characters of XML 1.0
      case 0xFFFF: out.append("\uFFFD"); break;
      default: out.append(before.substr(0, before.size() - rest.size()));
    }
  }
  return out;
}

}  // namespace gapless::internal
