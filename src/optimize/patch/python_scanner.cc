// SPDX-License-Identifier: Apache-2.0
// Finds where logical lines begin and end. What counts are the things that hide a line end, a bracket or a colon:
// strings (prefixes, three quotes, fields of f-strings with strings of their own), comments, brackets, backslashes.
//
// Fields of f-strings are read as from Python 3.12 on, where they may hold the quote of their string; what older
// versions take reads the same. Everything within a string counts as string: calls in fields are left alone.
#include <algorithm>

#include "base/strings.h"
#include "optimize/patch/python_source.h"

namespace gapless::internal {
namespace {

constexpr int kDeepest = 20;  // fields of f-strings within one another
constexpr int kTab = 8;

bool IsSpaceInLine(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\r'; }

bool IsStringPrefix(std::string_view word) {
  constexpr std::string_view kPrefixes[] = {"r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return EqualsIgnoreCase(prefix, word); });
}

bool StartsCompound(std::string_view word) {
  constexpr std::string_view kWords[] = {"if",  "elif",  "else", "for",   "while", "try",  "except",
                                         "def", "class", "with", "async", "match", "case", "finally"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

}  // namespace

class PythonScanner {
 public:
  explicit PythonScanner(std::string text) {
    source_.text_ = std::make_unique<const std::string>(std::move(text));
    text_ = *source_.text_;
    source_.kinds_.assign(text_.size(), ByteKind::kCode);
  }

  Result<PythonSource> Run() {
    FindLines();
    if (text_.find('\0') != std::string_view::npos) return Fail(ErrorCode::kInput, "is no text");
    if (lone_return_) return Fail(ErrorCode::kInput, "has line ends of another kind");
    size_t at = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    while (at < text_.size() && error_.empty()) at = Line(at);
    if (error_.empty()) CheckIndentation();
    if (!error_.empty()) return Fail(ErrorCode::kInput, error_, StrCat("line ", source_.LineOf(error_at_)));
    return std::move(source_);
  }

 private:
  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  // Keeps the first error and returns the end of the text, which ends every loop.
  size_t Error(std::string_view what, size_t at) {
    if (error_.empty()) error_ = what, error_at_ = std::min(at, text_.size() - 1);
    return text_.size();
  }
  void Mark(size_t begin, size_t end, ByteKind kind) {
    std::fill(source_.kinds_.begin() + static_cast<std::ptrdiff_t>(begin),
              source_.kinds_.begin() + static_cast<std::ptrdiff_t>(std::min(end, text_.size())), kind);
  }

  void FindLines() {
    size_t pairs = 0, ends = 0;
    source_.starts_.push_back(0);
    for (size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\r' && At(i + 1) != '\n') lone_return_ = true;
      if (text_[i] != '\n') continue;
      ++ends;
      pairs += i > 0 && text_[i - 1] == '\r' ? 1 : 0;
      if (i + 1 < text_.size()) source_.starts_.push_back(i + 1);
    }
    if (pairs * 2 > ends) source_.line_end_ = "\r\n";
  }

  // The physical line at `begin`, and with it the logical one where there is one. Gives where the next begins.
  size_t Line(size_t begin) {
    LogicalLine line{.begin = begin, .first = source_.LineOf(begin)};
    size_t at = begin;
    for (; IsSpaceInLine(At(at)); ++at) {
      if (text_[at] == '\f') line.indent = 0;
      line.indent += text_[at] == ' ' ? 1 : text_[at] == '\t' ? kTab - line.indent % kTab : 0;
    }
    if (at >= text_.size()) return at;
    if (text_[at] == '\n') return at + 1;
    if (text_[at] == '#') return Comment(at) + 1;
    line.code_begin = line.code_end = at;
    at = Code(at, line);
    if (!error_.empty()) return text_.size();
    line.end = std::min(at + 1, text_.size());
    line.last = source_.LineOf(line.end - 1);
    Describe(line);
    source_.lines_.push_back(line);
    return line.end;
  }

  // Up to the line end that ends the logical line.
  size_t Code(size_t at, LogicalLine& line) {
    std::string open;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '\n' && open.empty()) return at;
      if (c == '#') {
        at = Comment(at);
        continue;
      }
      const size_t before = at;
      at = c == '\\' ? Continuation(at) : Token(at);
      if (!error_.empty()) return at;
      if (c != '\n' && !IsSpaceInLine(c) && c != '\\') line.code_end = at;
      if (!Bracket(c, open)) return Error("a bracket that does not fit", before);
      if (open.empty() && c == ':' && At(at) != '=') colons_.push_back(before);
      if (open.empty() && c == ';') semicolons_.push_back(before);
    }
    return open.empty() ? at : Error("a bracket that does not end", line.code_begin);
  }

  static bool Bracket(char c, std::string& open) {
    if (c == '(' || c == '[' || c == '{') open += c;
    if (c != ')' && c != ']' && c != '}') return true;
    const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open.empty() || open.back() != wanted) return false;
    open.pop_back();
    return true;
  }

  size_t Comment(size_t at) {
    const size_t end = std::min(text_.find('\n', at), text_.size());
    Mark(at, end, ByteKind::kComment);
    return end;
  }

  size_t Continuation(size_t at) {
    const size_t next = At(at + 1) == '\r' ? at + 2 : at + 1;
    return At(next) == '\n' ? next + 1 : Error("a backslash within a line", at);
  }

  // One word, string or sign.
  size_t Token(size_t at) {
    size_t end = at;
    while (end < text_.size() && IsNameByte(text_[end])) ++end;
    const char next = At(end);
    const std::string_view word = text_.substr(at, end - at);
    if ((next == '"' || next == '\'') && (word.empty() || IsStringPrefix(word))) {
      const size_t past = String(end, ContainsIgnoreCase(word, "f") || ContainsIgnoreCase(word, "t"), 0);
      Mark(at, past, ByteKind::kString);
      return past;
    }
    return end > at ? end : at + 1;
  }

  // Returns the offset behind the string whose quote is at `at`. Depth is limited, since fields and strings call
  // each other.
  size_t String(size_t at, bool fields, int depth) {
    if (depth > kDeepest) return Error("fields of strings too deep", at);
    const size_t begin = at;
    const char quote = text_[at];
    const bool three = At(at + 1) == quote && At(at + 2) == quote;
    at += three ? 3 : 1;
    while (at < text_.size() && error_.empty()) {
      const char c = text_[at];
      if (c == quote && (!three || (At(at + 1) == quote && At(at + 2) == quote))) return at + (three ? 3 : 1);
      if (c == '\n' && !three) break;
      if (c == '\\') {
        at = Escape(at, fields);
      } else if (fields && c == '{') {
        at = At(at + 1) == '{' ? at + 2 : Field(at + 1, depth + 1);
      } else {
        ++at;
      }
    }
    return Error("a string that does not end", begin);
  }

  // Returns the offset behind a backslash and what it escapes. In strings with fields, a brace behind it still
  // opens one.
  size_t Escape(size_t at, bool fields) const {
    const char next = At(at + 1);
    if (next == '\r' && At(at + 2) == '\n') return at + 3;
    if (!fields) return at + 2;
    if (next == 'N' && At(at + 2) == '{') return std::min(text_.find('}', at), text_.size() - 1) + 1;
    return next == '{' || next == '}' ? at + 1 : at + 2;
  }

  // `{expression!r:format}` from behind its brace; the format may hold fields again.
  size_t Field(size_t at, int depth) {
    const size_t begin = at;
    std::string open;
    bool format = false;
    while (at < text_.size() && error_.empty()) {
      const char c = text_[at];
      if (c == '}' && open.empty()) return at + 1;
      if (format) {
        at = c == '{' ? Field(at + 1, depth + 1) : at + 1;
      } else if (c == '"' || c == '\'') {
        at = String(at, HasFields(at), depth + 1);
      } else {
        if (!Bracket(c, open)) break;
        format = c == ':' && open.empty();
        at = c == '#' ? std::min(text_.find('\n', at), text_.size()) : at + 1;
      }
      if (depth > kDeepest) return Error("fields of strings too deep", begin);
    }
    return Error("a field of a string that does not end", begin);
  }

  // Returns true if the prefix of the string at `quote` makes it one with replacement fields.
  bool HasFields(size_t quote) const {
    size_t begin = quote;
    while (begin > 0 && IsNameByte(text_[begin - 1])) --begin;
    const std::string_view word = text_.substr(begin, quote - begin);
    return IsStringPrefix(word) && (ContainsIgnoreCase(word, "f") || ContainsIgnoreCase(word, "t"));
  }

  std::string_view WordAt(size_t at) const {
    size_t end = at;
    while (end < text_.size() && IsNameByte(text_[end]) && source_.kinds_[end] == ByteKind::kCode) ++end;
    return text_.substr(at, end - at);
  }

  void Describe(LogicalLine& line) {
    line.keyword = WordAt(line.code_begin);
    const bool compound = StartsCompound(line.keyword);
    if (line.keyword == "async") {
      size_t at = line.code_begin + line.keyword.size();
      while (IsSpaceInLine(At(at))) ++at;
      line.keyword = WordAt(at);
    }
    line.opens_block = !colons_.empty() && colons_.back() + 1 == line.code_end;
    line.shared = (compound && !line.opens_block && !colons_.empty()) ||
                  std::ranges::any_of(semicolons_, [&](size_t at) { return at + 1 < line.code_end; });
    colons_.clear();
    semicolons_.clear();
  }

  // Checks that blocks are indented where they must be and nowhere else, and learns the file's unit of
  // indentation.
  void CheckIndentation() {
    std::vector<int> levels{0};
    const LogicalLine* above = nullptr;
    bool unit_known = false;
    for (const LogicalLine& line : source_.lines_) {
      const bool deeper = line.indent > levels.back();
      if (deeper != (above != nullptr && above->opens_block))
        return void(Error("indentation that does not fit", line.begin));
      if (deeper && !unit_known) unit_known = true, LearnUnit(*above, line);
      if (deeper) levels.push_back(line.indent);
      while (line.indent < levels.back()) levels.pop_back();
      if (line.indent != levels.back()) return void(Error("indentation that does not fit", line.begin));
      above = &line;
    }
    if (above != nullptr && above->opens_block) Error("a block without a statement", above->begin);
  }

  void LearnUnit(const LogicalLine& above, const LogicalLine& line) {
    const std::string_view outer = source_.IndentOf(above), inner = source_.IndentOf(line);
    if (inner.starts_with(outer) && inner.size() > outer.size()) source_.unit_ = inner.substr(outer.size());
  }

  PythonSource source_;
  std::string_view text_;
  bool lone_return_ = false;
  std::string error_;
  size_t error_at_ = 0;
  std::vector<size_t> colons_, semicolons_;  // outside of brackets, of the logical line
};

Result<PythonSource> PythonSource::Scan(std::string text) { return PythonScanner(std::move(text)).Run(); }

}  // namespace gapless::internal
