// SPDX-License-Identifier: Apache-2.0
// A Python file: its text, its syntax tree, and its lines of statements. The text keeps every byte, in any encoding
// that is read here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimize/patch/python_tree.h"

namespace gapless::internal {

// A logical line may span several lines of the file, by brackets, backslashes or strings.
struct LogicalLine {
  size_t begin = 0, end = 0;  // from the start of its first line to behind the end of its last one
  size_t code_begin = 0;      // behind the indentation
  int first = 0, last = 0;    // lines of the file, from 1
  int indent = 0;             // columns, tabs to the next multiple of 8
  int depth = 0;              // indented blocks around it
  PythonNode statement{};     // the statement that begins here, with its decorators; of a clause, the clause
  bool clause = false;        // `else:`, `case 1:` …: continues the statement above it
  bool opens_block = false;   // the lines below belong to it
  bool shared = false;        // `a; b` or `if a: b`: holds more than one statement
};

class PythonSource {
 public:
  // Returns an error with the line in `place` unless this is Python 3 whose blocks are indented as they must be.
  static Result<PythonSource> Parse(std::string text);

  std::string_view text() const { return *text_; }
  std::string_view TextOf(const PythonNode& node) const {
    return text().substr(node.begin(), node.end() - node.begin());
  }
  const PythonTree& tree() const { return tree_; }
  bool is_utf8() const { return utf8_; }
  const std::vector<LogicalLine>& lines() const { return lines_; }
  // Returns the white space before the first word of the line.
  std::string_view IndentOf(const LogicalLine& line) const;
  const std::vector<PythonNode>& statements() const { return statements_; }  // without clauses and decorators

  int LineOf(size_t offset) const;  // line of the file, from 1
  size_t StartOf(int line) const { return starts_[static_cast<size_t>(line) - 1]; }
  int LineCount() const { return static_cast<int>(starts_.size()); }
  std::string_view line_end() const { return line_end_; }  // "\n", "\r\n" or "\r", what most lines end with
  std::string_view indent_unit() const { return unit_; }   // "\t" or spaces: one level
  bool ends_with_line_end() const { return text_->empty() || text_->back() == '\n' || text_->back() == '\r'; }

  // Returns the index of the logical line that holds this line of the file; lines().size(): none does.
  size_t IndexAt(int line) const;
  // Returns the first line of the statement headed by this line: its first decorator. PastOf() returns the line after
  // the statement.
  size_t FirstOf(size_t index) const;
  size_t PastOf(size_t index) const;
  // Returns the logical lines [first, past) of the statements of one block that begin and end at these lines of the
  // file. Returns an error with the reason if the lines are not whole statements.
  struct Statements {
    size_t first = 0, past = 0;
  };
  Result<Statements> StatementsAt(int line, int last) const;

 private:
  friend class LineBuilder;
  PythonSource() = default;

  PythonTree tree_;
  std::vector<LogicalLine> lines_;
  std::vector<PythonNode> statements_;
  std::vector<size_t> starts_;  // offsets at which the lines of the file start
  std::string line_end_ = "\n", unit_ = "    ";
  bool utf8_ = true;
  std::unique_ptr<const std::string> text_;
};

inline bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace gapless::internal
