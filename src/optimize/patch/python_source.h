// SPDX-License-Identifier: Apache-2.0
// A Python file as lines of statements: as much of its grammar as is needed to change a call or to put a line before a
// statement without breaking it. Byte by byte, so that any encoding that contains ASCII is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

enum class ByteKind : uint8_t { kCode, kString, kComment };

// A logical line: it may span several lines of the file, by brackets, backslashes or strings.
struct LogicalLine {
  size_t begin = 0, end = 0;            // from the start of its first line to behind the end of its last one
  size_t code_begin = 0, code_end = 0;  // without indentation, comment, and line end
  int first = 0, last = 0;              // lines of the file, from 1
  int indent = 0;                       // columns, tabs to the next multiple of 8
  std::string_view keyword{};           // the first word; of `async for` the second
  bool opens_block = false;             // ends with a colon: the lines below belong to it
  bool shared = false;                  // `a; b` or `if a: b`: holds more than one statement
};

class PythonSource {
 public:
  // An error: this is no Python, or none whose strings, brackets and indentation end where they should. `place` of the
  // error is the line.
  static Result<PythonSource> Scan(std::string text);
  PythonSource(PythonSource&&) = default;
  PythonSource& operator=(PythonSource&&) = default;

  std::string_view text() const { return *text_; }
  ByteKind KindAt(size_t offset) const { return kinds_[offset]; }
  bool IsCode(size_t offset) const { return kinds_[offset] == ByteKind::kCode; }
  const std::vector<LogicalLine>& lines() const { return lines_; }
  std::string_view CodeOf(const LogicalLine& line) const {
    return text().substr(line.code_begin, line.code_end - line.code_begin);
  }
  // The white space before its first word.
  std::string_view IndentOf(const LogicalLine& line) const;

  int LineOf(size_t offset) const;  // line of the file, from 1
  size_t StartOf(int line) const { return starts_[static_cast<size_t>(line) - 1]; }
  int LineCount() const { return static_cast<int>(starts_.size()); }
  std::string_view line_end() const { return line_end_; }  // "\n" or "\r\n", what most lines end with
  std::string_view indent_unit() const { return unit_; }   // "\t" or spaces: one level
  bool ends_with_line_end() const { return text_->empty() || text_->back() == '\n'; }

  // The logical line that holds this line of the file; lines().size(): none does.
  size_t IndexAt(int line) const;
  // `else`, `except`, `case` …: a line that continues the statement above it.
  bool IsClause(size_t index) const;
  // Returns the first line of the statement headed by this line: its first decorator. PastOf() returns the line after
  // it.
  size_t FirstOf(size_t index) const;
  size_t PastOf(size_t index) const;
  // Returns the logical lines [first, past) of the statements of one block that begin and end at these lines of the
  // file. Returns an error with the reason if the lines are not whole statements.
  struct Statements {
    size_t first = 0, past = 0;
  };
  Result<Statements> StatementsAt(int line, int last) const;

 private:
  friend class PythonScanner;
  PythonSource() = default;
  size_t PastBlock(size_t index) const;

  std::vector<ByteKind> kinds_;
  std::vector<LogicalLine> lines_;
  std::vector<size_t> starts_;  // offsets at which the lines of the file start
  std::string line_end_ = "\n", unit_ = "    ";
  std::unique_ptr<const std::string> text_;  // keywords point into it
};

inline bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace gapless::internal
