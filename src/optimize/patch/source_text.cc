// SPDX-License-Identifier: Apache-2.0
// The shape is checked by counting, line by line, what the parser's reader of indentation would look at.
//
// Before each comment that begins a line the reader looks at all lines up to the next code, so a run of comments costs
// its lines times its bytes. The levels of indentation grow inwards, so a text has at most as many as it has widths.
#include "optimize/patch/source_text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxWidths = 250;               // different widths of indentation
constexpr size_t kMaxWidth = 10'000;             // columns
constexpr uint64_t kMaxRun = uint64_t{1} << 29;  // comments times bytes, in all runs together

}  // namespace

Result<void> CheckShape(std::string_view text) {
  std::set<size_t> widths;
  size_t width = 0, run_begin = 0;
  uint64_t comments = 0, cost = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\n') {
      width = c == ' ' ? width + 1 : c == '\t' ? width + 8 : 0;
      ++at;
      continue;
    }
    const size_t line_end = std::min(text.find('\n', at), text.size());
    if (c == '\\' && line_end <= at + 2) {
      ++comments;
      at = line_end + 1;
    } else if (c == '#') {
      ++comments;
      width = 0;
      at = line_end + 1;
    } else {
      cost += comments * (at - run_begin);
      comments = 0;
      widths.insert(width);
      if (widths.size() > kMaxWidths || width > kMaxWidth) return Fail(ErrorCode::kInput, "is indented too deeply");
      width = 0;
      at = run_begin = line_end + 1;
    }
    if (cost + comments * (std::min(at, text.size()) - run_begin) > kMaxRun)
      return Fail(ErrorCode::kInput, "has too many comments or backslashes in a row");
  }
  return {};
}

// The encoding is what the coding comment of the first two lines says.

namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";  // UTF-8 begins with it, or not

bool IsNameOfEncoding(char c) {
  const char low = Lower(c);
  return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

// Returns the name behind "coding:" or "coding=" in a comment, in small letters and with hyphens, or an empty text.
std::string CodingOf(std::string_view comment) {
  std::string name;
  for (size_t at = comment.find("coding"); at != std::string_view::npos && name.empty();
       at = comment.find("coding", at + 1)) {
    std::string_view rest = comment.substr(at + 6);
    if (!rest.starts_with(':') && !rest.starts_with('=')) continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t", 1), rest.size()));
    for (size_t i = 0; i < rest.size() && IsNameOfEncoding(rest[i]); ++i) name += rest[i] == '_' ? '-' : Lower(rest[i]);
  }
  return name;
}

std::string DeclaredCoding(std::string_view text) {
  for (int line = 0; line < 2; ++line) {
    const std::string_view whole = text.substr(0, text.find_first_of("\r\n"));
    const size_t code = whole.find_first_not_of(" \t\f");
    if (code != std::string_view::npos && whole[code] != '#') return "";
    if (std::string name = CodingOf(whole); !name.empty()) return name;
    text.remove_prefix(std::min(whole.size() + (text.substr(whole.size()).starts_with("\r\n") ? 2 : 1), text.size()));
  }
  return "";
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t ascii = static_cast<size_t>(
        std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }) - text.begin());
    text.remove_prefix(ascii);
    const size_t length = text.empty() ? 0 : Utf8SequenceLength(text);
    if (length == 0 && !text.empty()) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool IsSingleByte(std::string_view name) {
  constexpr std::string_view kNames[] = {"ascii", "us-ascii", "latin-1", "latin1", "l1", "koi8-r", "koi8-u"};
  constexpr std::string_view kFamilies[] = {"iso-8859-", "iso8859-", "latin-1-", "iso-latin-1", "cp125", "windows-125"};
  return std::ranges::find(kNames, name) != std::end(kNames) ||
         std::ranges::any_of(kFamilies, [&](std::string_view family) { return name.starts_with(family); });
}

}  // namespace

Result<SourceEncoding> EncodingOf(std::string_view text) {
  const bool marked = text.starts_with(kMark);
  const std::string name = DeclaredCoding(text.substr(marked ? kMark.size() : 0));
  if (name.empty() || name == "utf-8" || name == "utf8" || name.starts_with("utf-8-")) {
    if (IsUtf8(text)) return SourceEncoding::kUtf8;
    return Fail(ErrorCode::kInput, "holds bytes that are no UTF-8, and names no other encoding");
  }
  if (marked || !IsSingleByte(name))
    return Fail(ErrorCode::kInput, StrCat("is written in ", name, ", which gapless does not read"));
  return SourceEncoding::kSingleByte;
}

}  // namespace gapless::internal
