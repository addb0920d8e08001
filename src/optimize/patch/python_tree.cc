// SPDX-License-Identifier: Apache-2.0
// Parses with tree-sitter and its grammar of Python, which read more than Python 3 does: a text is refused where they
// found no rule, and where they know that only Python 2 has the rule.
//
// Nodes keep the members of TSNode. Trees are walked with cursors, which keep their stack on the heap, so depth costs
// memory alone.
#include "optimize/patch/python_tree.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>

#include "base/strings.h"

struct TSLexer;

// NOLINTBEGIN(readability-identifier-naming): the names are those of the parser.
extern "C" {
const TSLanguage* tree_sitter_python();
// The grammar's own reader of line ends and indentation, which `make deps` compiles under this name.
bool tree_sitter_python_scan(void* reader, TSLexer* lexer, const bool* valid);

// To recover from errors, the reader ends a block at any line that is indented less, within brackets too unless a
// bracket may close there. Texts with errors are refused here, so a bracket is always allowed to close where no block
// may end.
bool tree_sitter_python_external_scanner_scan(void* reader, TSLexer* lexer, const bool* valid) {
  constexpr size_t kCount = 12, kDedent = 2, kCloseBracket = 8;  // in the order of the grammar's `externals`
  bool allowed[kCount];
  std::copy_n(valid, kCount, allowed);
  allowed[kCloseBracket] = allowed[kCloseBracket] || !valid[kDedent];
  return tree_sitter_python_scan(reader, lexer, allowed);
}
}
// NOLINTEND(readability-identifier-naming)

namespace gapless::internal {
namespace {

// The parser reports progress every 100 tokens. Ordinary texts of 8 MiB stay below; dense ones would take gigabytes.
constexpr size_t kMaxReports = 60'000;

struct ParserDeletion {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
using Tree = std::unique_ptr<TSTree, decltype([](TSTree* tree) { ts_tree_delete(tree); })>;

// A Cursor visits the nodes below a node, each before those below it.
class Cursor {
 public:
  explicit Cursor(TSNode node) : cursor_(ts_tree_cursor_new(node)) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() { ts_tree_cursor_delete(&cursor_); }

  TSNode node() const { return ts_tree_cursor_current_node(&cursor_); }
  // Moves on, to the first node below this one if `into`. Returns false at the end.
  bool Next(bool into) {
    if (into && ts_tree_cursor_goto_first_child(&cursor_)) return true;
    while (!ts_tree_cursor_goto_next_sibling(&cursor_))
      if (!ts_tree_cursor_goto_parent(&cursor_)) return false;
    return true;
  }

 private:
  TSTreeCursor cursor_;
};

struct Progress {
  std::string_view text;
  size_t reports = 0, at = 0;
  bool failed = false;  // no reading of the text so far is without an error
};

bool Stops(TSParseState* state) {
  auto& progress = *static_cast<Progress*>(state->payload);
  progress.failed = progress.failed || state->has_error;
  progress.at = state->current_byte_offset;
  return progress.failed || ++progress.reports > kMaxReports;
}

const char* Read(void* payload, uint32_t offset, TSPoint, uint32_t* bytes) {
  const std::string_view text = static_cast<Progress*>(payload)->text;
  const size_t at = std::min<size_t>(offset, text.size());
  *bytes = static_cast<uint32_t>(text.size() - at);
  return text.data() + at;
}

Unexpected Refusal(std::string_view text, std::string why, size_t at) {
  const auto lines = std::ranges::count(text.substr(0, std::min(at, text.size())), '\n');
  return Fail(ErrorCode::kInput, std::move(why), StrCat("line ", lines + 1));
}

// Returns the offset of the first token that fits into no statement. Statements that do fit may stand before it in the
// same node.
size_t FirstError(const TSTree* tree, size_t end) {
  Cursor cursor(ts_tree_root_node(tree));
  bool within = false;
  do {
    const TSNode node = cursor.node();
    const std::string_view kind = ts_node_type(node);
    const bool fits = kind.ends_with("_statement") || kind.ends_with("_definition") || ts_node_is_extra(node);
    if (ts_node_is_missing(node) || (within && !fits)) return ts_node_start_byte(node);
    within = within || ts_node_is_error(node);
    if (ts_node_is_error(node) && ts_node_child_count(node) == 0) return ts_node_start_byte(node);
  } while (cursor.Next(ts_node_has_error(cursor.node())));
  return end;
}

enum class TokenKind : uint8_t { kOrdinary, kString, kComment, kName, kOldSyntax };

TokenKind KindOf(TSSymbol symbol) {
  static const auto kKinds = [] {
    const TSLanguage* python = tree_sitter_python();
    std::vector<TokenKind> found(ts_language_symbol_count(python), TokenKind::kOrdinary);
    for (size_t i = 0; i < found.size(); ++i) {
      const std::string_view name = ts_language_symbol_name(python, static_cast<TSSymbol>(i));
      if (name == "string") found[i] = TokenKind::kString;
      if (name == "comment") found[i] = TokenKind::kComment;
      if (name == "identifier") found[i] = TokenKind::kName;
      if (name == "print_statement" || name == "exec_statement" || name == "<>") found[i] = TokenKind::kOldSyntax;
    }
    return found;
  }();
  return symbol < kKinds.size() ? kKinds[symbol] : TokenKind::kOrdinary;
}

// Returns true if Python has another reading of the node than the grammar, or none.
bool IsOld(TokenKind token, std::string_view code) {
  if (token == TokenKind::kString) return code.substr(0, code.find_first_of("'\"")).find('`') != std::string_view::npos;
  if (token == TokenKind::kOldSyntax && code.starts_with("print"))
    return code[std::min(code.find_first_not_of(" \t", 5), code.size() - 1)] != '>';
  return token == TokenKind::kOldSyntax || (token == TokenKind::kName && (code == "async" || code == "await"));
}

// Returns the offset of the first byte between tokens that is neither space nor a backslash before a line end.
size_t OddSpace(std::string_view text, size_t begin, size_t end) {
  constexpr std::string_view kSpace = " \t\r\n\f";
  for (; begin < end; ++begin)
    if (kSpace.find(text[begin]) == std::string_view::npos && (text[begin] != '\\' || begin + 1 == end)) return begin;
  return end;
}

// The grammar takes more characters for white space than Python, which is why what lies between tokens is looked at.
Result<void> CheckTokens(const TSTree* tree, std::string_view text) {
  Cursor cursor(ts_tree_root_node(tree));
  size_t past = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  bool more = true;
  while (more) {
    const TSNode node = cursor.node();
    const TokenKind token = KindOf(ts_node_symbol(node));
    const bool leaf = token == TokenKind::kString || ts_node_child_count(node) == 0;
    const size_t begin = ts_node_start_byte(node), end = ts_node_end_byte(node);
    if (token != TokenKind::kOrdinary && IsOld(token, text.substr(begin, end - begin)))
      return Refusal(text, "is written for an old version of Python", begin);
    if (const size_t odd = leaf ? OddSpace(text, past, begin) : begin; odd < begin)
      return Refusal(text, "holds a character that code of Python cannot hold", odd);
    if (leaf) past = std::max(past, end);
    more = cursor.Next(!leaf);
  }
  return {};
}

TSNode Raw(const PythonNode& node) { return std::bit_cast<TSNode>(node); }

}  // namespace

static_assert(sizeof(PythonNode) == sizeof(TSNode) && std::is_trivially_copyable_v<PythonNode>);

std::string_view PythonNode::kind() const { return id_ == nullptr ? "" : ts_node_type(Raw(*this)); }
size_t PythonNode::begin() const { return ts_node_start_byte(Raw(*this)); }
size_t PythonNode::end() const { return ts_node_end_byte(Raw(*this)); }

PythonNode PythonNode::Field(std::string_view name) const {
  return std::bit_cast<PythonNode>(
      ts_node_child_by_field_name(Raw(*this), name.data(), static_cast<uint32_t>(name.size())));
}

std::vector<PythonNode> PythonNode::Children() const {
  std::vector<PythonNode> children;
  TSTreeCursor cursor = ts_tree_cursor_new(Raw(*this));
  for (bool more = ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
    const TSNode child = ts_tree_cursor_current_node(&cursor);
    if (ts_node_is_named(child) && !ts_node_is_extra(child)) children.push_back(std::bit_cast<PythonNode>(child));
  }
  ts_tree_cursor_delete(&cursor);
  return children;
}

void PythonTree::Deletion::operator()(void* tree) const { ts_tree_delete(static_cast<TSTree*>(tree)); }

Result<PythonTree> PythonTree::Parse(std::string_view text) {
  const std::unique_ptr<TSParser, ParserDeletion> parser(ts_parser_new());
  ts_parser_set_language(parser.get(), tree_sitter_python());
  Progress progress{.text = text};
  const TSInput input{.payload = &progress, .read = Read, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  const TSParseOptions options{.payload = &progress, .progress_callback = Stops};
  Tree tree(ts_parser_parse_with_options(parser.get(), nullptr, input, options));
  if (!tree && !progress.failed) return Fail(ErrorCode::kInput, "is too large for a script");
  if (!tree || ts_node_has_error(ts_tree_root_node(tree.get()))) {
    // The error lies in what was read so far; reading it again, to the end, says where.
    if (!tree) {
      progress.text = text.substr(0, progress.at);
      ts_parser_reset(parser.get());
      tree.reset(ts_parser_parse(parser.get(), nullptr, input));
    }
    const size_t at = tree ? FirstError(tree.get(), progress.text.size()) : 0;
    return Refusal(text, "is no Python 3 that gapless can read", at);
  }
  GAPLESS_TRY(CheckTokens(tree.get(), text));
  PythonTree parsed;
  parsed.tree_.reset(tree.release());
  return parsed;
}

PythonNode PythonTree::root() const {
  return std::bit_cast<PythonNode>(ts_tree_root_node(static_cast<const TSTree*>(tree_.get())));
}

void PythonTree::Walk(const std::function<bool(const PythonNode&)>& visit) const {
  Cursor cursor(Raw(root()));
  bool more = true;
  while (more) {
    const TSNode node = cursor.node();
    bool into = KindOf(ts_node_symbol(node)) != TokenKind::kString;
    if (ts_node_is_named(node)) into = visit(std::bit_cast<PythonNode>(node)) && into;
    more = cursor.Next(into);
  }
}

}  // namespace gapless::internal
