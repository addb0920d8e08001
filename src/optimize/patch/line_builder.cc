// SPDX-License-Identifier: Apache-2.0
// Parses a file, and finds the logical lines on which its statements begin.
//
// The parser sees a copy in which lone carriage returns are line ends, as they are for Python, and in which the bytes
// above ASCII of other encodings than UTF-8 are letters; offsets stay. The grammar takes statements that are indented
// where they must not be, so the indentation is checked here.
#include <algorithm>

#include "base/strings.h"
#include "optimize/patch/python_source.h"
#include "optimize/patch/source_text.h"

namespace gapless::internal {
namespace {

constexpr int kTab = 8;

bool IsClause(std::string_view kind) {
  return kind.ends_with("_clause") && kind != "with_clause" && kind != "if_clause";
}

}  // namespace

class LineBuilder {
 public:
  explicit LineBuilder(std::string text) {
    source_.text_ = std::make_unique<const std::string>(std::move(text));
    text_ = *source_.text_;
    copy_ = text_;
  }

  Result<PythonSource> Run() {
    if (text_.find('\0') != std::string_view::npos) return Fail(ErrorCode::kInput, "is no text");
    GAPLESS_ASSIGN(const auto encoding, EncodingOf(text_));
    source_.utf8_ = encoding == SourceEncoding::kUtf8;
    FindLines();
    GAPLESS_TRY(CheckShape(copy_));
    GAPLESS_ASSIGN(source_.tree_, PythonTree::Parse(copy_));
    AddStatements();
    CheckIndentation();
    if (!error_.empty()) return Fail(ErrorCode::kInput, error_, StrCat("line ", source_.LineOf(error_at_)));
    return std::move(source_);
  }

 private:
  // A Part is a statement, a clause or a decorator: what a logical line may begin with.
  struct Part {
    PythonNode node, statement;
    int depth = 0;
  };

  void Error(std::string_view what, size_t at) {
    if (error_.empty()) error_ = what, error_at_ = at;
  }

  void FindLines() {
    size_t ends[3] = {};  // "\n", "\r\n", "\r"
    source_.starts_.push_back(0);
    for (size_t i = 0; i < copy_.size(); ++i) {
      if (!source_.utf8_ && static_cast<unsigned char>(copy_[i]) >= 0x80) copy_[i] = 'x';
      const bool lone = copy_[i] == '\r' && (i + 1 == copy_.size() || copy_[i + 1] != '\n');
      if (lone) copy_[i] = '\n';
      if (copy_[i] != '\n') continue;
      ++ends[lone ? 2 : i > 0 && copy_[i - 1] == '\r' ? 1 : 0];
      if (i + 1 < copy_.size()) source_.starts_.push_back(i + 1);
    }
    const size_t half = (ends[0] + ends[1] + ends[2]) / 2;
    if (ends[1] > half) source_.line_end_ = "\r\n";
    if (ends[2] > half) source_.line_end_ = "\r";
  }

  // Returns the offset behind the line end that follows `at`, which stands in code, or in a comment or space behind it.
  size_t LineEndBehind(size_t at) const {
    for (; at < copy_.size() && copy_[at] != '\n'; ++at) {
      if (copy_[at] == '#') return std::min(copy_.find('\n', at), copy_.size() - 1) + 1;
      if (copy_[at] != '\\') continue;
      if (const size_t next = copy_.find('\n', at); next <= at + 2) at = next;
    }
    return std::min(at + 1, copy_.size());
  }

  // Takes the parts in the order of the text, each before those in it.
  void AddStatements() {
    std::vector<Part> open{{.node = source_.tree_.root(), .statement = {}}};
    while (!open.empty()) {
      const Part part = open.back();
      open.pop_back();
      const std::string_view kind = part.node.kind();
      const auto children = part.node.Children();
      const bool module = kind == "module", decorated = kind == "decorated_definition";
      if (kind == "try_statement" && children.size() < 2) Error("a try without its except", part.node.begin());
      bool opens = false;
      if (!module && !decorated) opens = AddPart(part, children);
      std::vector<Part> inner;
      for (const PythonNode& child : children) {
        const std::string_view name = child.kind();
        if (name == "block") {
          for (const PythonNode& statement : child.Children())
            inner.push_back({.node = statement, .statement = statement, .depth = part.depth + (opens ? 1 : 0)});
        } else if (module) {
          inner.push_back({.node = child, .statement = child});
        } else if (decorated || IsClause(name)) {
          inner.push_back({.node = child, .statement = decorated ? part.statement : child, .depth = part.depth});
        }
      }
      open.insert(open.end(), inner.rbegin(), inner.rend());
    }
  }

  // Adds a part to its logical line, or begins one with it. Returns true if an indented block must follow.
  bool AddPart(const Part& part, const std::vector<PythonNode>& children) {
    const std::string_view kind = part.node.kind();
    const auto block = std::ranges::find(children, std::string_view("block"), &PythonNode::kind);
    // A header ends with the colon that follows what stands before its block.
    size_t code_end = part.node.end();
    if (block != children.end()) code_end = block == children.begin() ? part.node.begin() : std::prev(block)->end();
    const size_t end = LineEndBehind(code_end);
    const auto inner = block == children.end() ? children : block->Children();
    const bool opens = block != children.end() && (inner.empty() || inner.front().begin() >= end);
    auto& lines = source_.lines_;
    if (!lines.empty() && part.node.begin() < lines.back().end) {
      lines.back().shared = true;
      lines.back().end = std::max(lines.back().end, end);
    } else {
      lines.push_back(NewLine(part, end));
    }
    lines.back().opens_block = opens;
    lines.back().last = source_.LineOf(lines.back().end - 1);
    if (kind != "decorator" && !IsClause(kind)) source_.statements_.push_back(part.node);
    return opens;
  }

  LogicalLine NewLine(const Part& part, size_t end) const {
    const size_t mark = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    size_t begin = source_.lines_.empty() ? mark : source_.lines_.back().end;
    for (size_t next = LineEndBehind(begin); next <= part.node.begin(); next = LineEndBehind(begin)) begin = next;
    LogicalLine line{.begin = begin, .end = end, .code_begin = begin, .depth = part.depth};
    line.first = source_.LineOf(begin);
    for (; line.code_begin < copy_.size(); ++line.code_begin) {
      const char c = copy_[line.code_begin];
      if (c != ' ' && c != '\t' && c != '\f' && c != '\r') break;
      line.indent += c == ' ' ? 1 : c == '\t' ? kTab - line.indent % kTab : c == '\f' ? -line.indent : 0;
    }
    line.statement = part.statement;
    line.clause = IsClause(part.node.kind());
    return line;
  }

  // Checks that blocks are indented where they must be and nowhere else, and learns the file's unit of indentation.
  void CheckIndentation() {
    constexpr std::string_view kMisfit = "indentation that does not fit";
    std::vector<int> levels{0};
    const LogicalLine* above = nullptr;
    bool unit_known = false;
    for (const LogicalLine& line : source_.lines_) {
      const bool deeper = line.indent > levels.back();
      if (deeper != (above != nullptr && above->opens_block)) return Error(kMisfit, line.begin);
      if (deeper && !unit_known) unit_known = true, LearnUnit(*above, line);
      if (deeper) levels.push_back(line.indent);
      while (line.indent < levels.back()) levels.pop_back();
      if (line.indent != levels.back() || levels.size() != static_cast<size_t>(line.depth) + 1)
        return Error(kMisfit, line.begin);
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
  std::string copy_;
  std::string error_;
  size_t error_at_ = 0;
};

Result<PythonSource> PythonSource::Parse(std::string text) { return LineBuilder(std::move(text)).Run(); }

}  // namespace gapless::internal
